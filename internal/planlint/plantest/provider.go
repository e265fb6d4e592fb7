package plantest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Provider stands in for the providers of every type that Plan knows, so that a real tool can plan the same configurations. It has
// the same schemas, makes nothing and refuses nothing.
func Provider() (provider.Provider, error) {
	all, err := schemas()
	return &standIn{schemas: all}, err
}

type standIn struct{ schemas map[string]*block }

// settings are the arguments of a provider block.
type settings struct {
	Project types.String `tfsdk:"project"`
	Region  types.String `tfsdk:"region"`
}

func (*standIn) Metadata(context.Context, provider.MetadataRequest, *provider.MetadataResponse) {}

func (*standIn) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema.Attributes = map[string]providerschema.Attribute{
		"project": providerschema.StringAttribute{Optional: true}, "region": providerschema.StringAttribute{Optional: true},
	}
}

func (*standIn) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var defaults settings
	resp.Diagnostics.Append(req.Config.Get(ctx, &defaults)...)
	resp.ResourceData = &defaults
}

func (*standIn) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p *standIn) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for _, name := range slices.Sorted(maps.Keys(p.schemas)) {
		all = append(all, func() resource.Resource { return &imagined{name: name, block: p.schemas[name]} })
	}
	return all
}

// imagined is a resource that is only ever in a state.
type imagined struct {
	name     string
	block    *block
	defaults *settings
}

var (
	_ resource.ResourceWithConfigure  = (*imagined)(nil)
	_ resource.ResourceWithModifyPlan = (*imagined)(nil)
)

// Metadata gives the type's whole name.
func (r *imagined) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

// Schema is the type's.
func (r *imagined) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema.Attributes, resp.Schema.Blocks = typed(r.block)
}

// Configure keeps the provider's project and region.
func (r *imagined) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.defaults, _ = req.ProviderData.(*settings)
}

// ModifyPlan fills in the provider's project and region.
func (r *imagined) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.defaults == nil {
		return
	}
	for name, value := range map[string]types.String{"project": r.defaults.Project, "region": r.defaults.Region} {
		if !r.block.attributes[name].provider || value.IsNull() {
			continue
		}
		var own types.String
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(name), &own)...)
		if own.IsNull() {
			resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root(name), value)...)
		}
	}
}

// Create makes every value known.
func (r *imagined) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var err error
	if resp.State.Raw, err = r.applied(req.Plan.Raw); err != nil {
		resp.Diagnostics.AddError("apply", err.Error())
	}
}

// Read finds everything as it was.
func (*imagined) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update makes every value known.
func (r *imagined) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var err error
	if resp.State.Raw, err = r.applied(req.Plan.Raw); err != nil {
		resp.Diagnostics.AddError("apply", err.Error())
	}
}

// Delete has nothing to do.
func (*imagined) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// applied gives what is computed the value that the schema says.
func (r *imagined) applied(plan tftypes.Value) (tftypes.Value, error) {
	var root map[string]tftypes.Value
	if err := plan.As(&root); err != nil {
		return plan, err
	}
	return tftypes.Transform(plan, func(at *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		if list, ok := v.Type().(tftypes.List); ok {
			return r.whole(at, list), nil
		}
		text := r.block.find(at).applied
		for name, value := range root {
			part := r.block.attributes[name].applied
			if value.Type().Is(tftypes.String) && (!value.IsKnown() || value.As(&part) == nil) {
				text = strings.ReplaceAll(text, "{"+name+"}", part)
			}
		}
		return literal(text, v.Type()), nil
	})
}

// whole is a block that is computed as a whole, once it is applied.
func (r *imagined) whole(at *tftypes.AttributePath, list tftypes.List) tftypes.Value {
	object, ok := list.ElementType.(tftypes.Object)
	name, named := at.LastStep().(tftypes.AttributeName)
	if !ok || !named {
		return tftypes.NewValue(list, nil)
	}
	fields := map[string]tftypes.Value{}
	for field, as := range object.AttributeTypes {
		fields[field] = literal(r.block.blocks[string(name)].attributes[field].applied, as)
	}
	return tftypes.NewValue(list, []tftypes.Value{tftypes.NewValue(object, fields)})
}

// find is the attribute that a path leads to.
func (b *block) find(at *tftypes.AttributePath) attribute {
	for _, step := range at.Steps() {
		name, ok := step.(tftypes.AttributeName)
		if !ok {
			continue
		}
		if inner := b.blocks[string(name)]; inner != nil {
			b = inner
			continue
		}
		return b.attributes[string(name)]
	}
	return attribute{}
}
