package provider_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// stubGoogle stands in for hashicorp/google in compositions: the few resources that they use, with the computed values that are
// unknown before apply. It makes nothing; it remembers what it was asked to make, and in which order.
type stubGoogle struct {
	before func(typeName string) // called before an object is made

	mu   sync.Mutex
	made []string
}

func (g *stubGoogle) note(typeName string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.made = append(g.made, typeName)
}

// count says how many objects of a type were made.
func (g *stubGoogle) count(typeName string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(g.made), func(made string) bool { return made != typeName }))
}

func (*stubGoogle) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "google"
}

func (*stubGoogle) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (*stubGoogle) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (*stubGoogle) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (g *stubGoogle) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for name, layout := range stubSchemas() {
		all = append(all, func() resource.Resource { return &stubResource{google: g, name: name, layout: layout} })
	}
	return all
}

// stubSchemas are the parts of the real schemas that compositions use.
func stubSchemas() map[string]schema.Schema {
	attributes := func(required []string, optional []string, computed ...string) map[string]schema.Attribute {
		all := map[string]schema.Attribute{}
		for _, name := range required {
			all[name] = schema.StringAttribute{Required: true}
		}
		for _, name := range optional {
			all[name] = schema.StringAttribute{Optional: true}
		}
		for _, name := range computed {
			all[name] = schema.StringAttribute{Computed: true}
		}
		return all
	}
	block := func(attributes map[string]schema.Attribute, blocks map[string]schema.Block) schema.Block {
		return schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: attributes, Blocks: blocks}}
	}
	condition := map[string]schema.Block{"condition": block(attributes([]string{"title", "expression"}, []string{"description"}), nil)}
	service := attributes([]string{"name", "location", "project"}, nil, "id", "uri")
	service["custom_audiences"] = schema.ListAttribute{Optional: true, ElementType: types.StringType}
	containers := map[string]schema.Block{"containers": block(attributes([]string{"image"}, nil),
		map[string]schema.Block{"env": block(attributes([]string{"name"}, []string{"value"}), nil)})}
	return map[string]schema.Schema{
		"google_service_account": {
			Attributes: attributes([]string{"project", "account_id"}, []string{"display_name"}, "id", "email"),
		},
		"google_project_iam_member": {
			Attributes: attributes([]string{"project", "role", "member"}, nil, "id"), Blocks: condition,
		},
		"google_cloud_run_v2_service": {
			Attributes: service, Blocks: map[string]schema.Block{"template": block(attributes(nil, []string{"service_account", "timeout"}), containers)},
		},
		"google_cloud_run_v2_service_iam_member": {
			Attributes: attributes([]string{"project", "location", "name", "role", "member"}, nil, "id"),
		},
	}
}

// stubResource is any of the types: what is planned, with what was unknown filled in.
type stubResource struct {
	google *stubGoogle
	name   string
	layout schema.Schema
}

func (r *stubResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

func (r *stubResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.layout
}

func (r *stubResource) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.google.before(r.name)
	state, err := fill(req.Plan.Raw)
	if err != nil {
		resp.Diagnostics.AddError("stub", err.Error())
		return
	}
	resp.State.Raw = state
	r.google.note(r.name)
}

func (*stubResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (*stubResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	state, err := fill(req.Plan.Raw)
	if err != nil {
		resp.Diagnostics.AddError("stub", err.Error())
		return
	}
	resp.State.Raw = state
}

func (*stubResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// fill makes up the computed values as the cloud would.
func fill(planned tftypes.Value) (tftypes.Value, error) {
	written := func(name string) string {
		found, _, err := tftypes.WalkAttributePath(planned, tftypes.NewAttributePath().WithAttributeName(name))
		if err != nil {
			return ""
		}
		var text string
		if value, ok := found.(tftypes.Value); !ok || !value.IsKnown() || value.As(&text) != nil {
			return ""
		}
		return text
	}
	return tftypes.Transform(planned, func(at *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
		if value.IsKnown() || !value.Type().Is(tftypes.String) {
			return value, nil
		}
		text := "made"
		switch path := at.String(); {
		case strings.Contains(path, `"email"`):
			text = written("account_id") + "@" + written("project") + ".iam.gserviceaccount.com"
		case strings.Contains(path, `"uri"`):
			text = "https://" + written("name") + "-abc123-ew.a.run.app"
		}
		return tftypes.NewValue(tftypes.String, text), nil
	})
}
