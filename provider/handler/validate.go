package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// longestRequest is App Engine's, the longest of all platforms.
const longestRequest = 24*time.Hour + 15*time.Second

// ValidateConfig refuses what is wrong whatever unknown values turn out to be.
func (*Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	c := checker{name: config.Name.ValueString(), diags: &resp.Diagnostics}
	c.texts(config)
	c.callers(config)
	c.timeout(config)
	if earlier, unknown := config.earlier(ctx, c.diags); !unknown {
		c.previous(earlier)
	}
	targets, unknown := config.forwards(ctx, c.diags)
	c.forward(targets)
	c.parts(config)
	_, _, unknownParts := config.parts(ctx, c.diags)
	if c.diags.HasError() {
		return
	}
	c.generated(ctx, config, unknown || unknownParts)
}

// checker refuses values in one form of words.
type checker struct {
	name  string
	diags *diag.Diagnostics
}

func (c checker) refuse(at path.Path, words, reason, remedy string) {
	c.diags.AddAttributeError(at, fmt.Sprintf("%s of handler %q: %s", words, c.name, reason), remedy)
}

func (c checker) texts(m model) {
	if v := m.ServiceAccountEmail; given(v) && !isAddress(v.ValueString()) {
		c.refuse(path.Root("service_account_email"), "service_account_email", fmt.Sprintf("%q is not an address", v.ValueString()),
			"Name the service account by its address, NAME@PROJECT.iam.gserviceaccount.com.")
	}
	callers := []string{callerVerify, callerCloudRunIAM, callerAppEngine, callerInsecure}
	if v := m.Caller; given(v) && !slices.Contains(callers, v.ValueString()) {
		c.refuse(path.Root("caller"), "caller", fmt.Sprintf("%q is not one of its values", v.ValueString()),
			"It says how the handler finds out who calls.\n\nSet it to one of "+strings.Join(callers, ", ")+", or leave it out.")
	}
	if v := m.Audience; given(v) && (v.ValueString() == "" || strings.ContainsAny(v.ValueString(), " \t\r\n,?#")) {
		c.refuse(path.Root("audience"), "audience", fmt.Sprintf("%q is not an audience", v.ValueString()),
			"It names the service that tokens are for, without blanks, commas or a query string: handlers keep audiences in a comma list, "+
				"and platforms answer 401 to a query string.")
	}
	if v := m.OutputDir; given(v) && v.ValueString() == "" {
		c.refuse(path.Root("output_dir"), "output_dir", "it is empty",
			"The handler's files are written to this folder.\n\nName a folder, or leave it out to have the files in files only.")
	}
}

func (c checker) callers(m model) {
	if !m.Callers.IsNull() && !m.Callers.IsUnknown() && len(m.Callers.Elements()) == 0 {
		c.refuse(path.Root("callers"), "callers", "it is empty",
			"Nobody could call.\n\nName the service accounts of the jobs, or leave it out to let in those of the project.")
	}
	for i, entry := range elementsOf(m.Callers) {
		if entry.IsUnknown() {
			continue
		}
		if err := caller.CheckEntry(entry.ValueString()); err != nil {
			c.refuse(path.Root("callers").AtListIndex(i), fmt.Sprintf("callers[%d]", i), "it cannot be used", err.Error()+".")
		}
	}
}

func (c checker) timeout(m model) {
	d, err := m.timeout()
	v := m.RequestTimeout
	if !given(v.StringValue) || err == nil && d > 0 && d <= longestRequest {
		return
	}
	c.refuse(path.Root("request_timeout"), "request_timeout", fmt.Sprintf("%q is not a duration it can have", v.ValueString()),
		"Write a number and a unit, such as \"300s\" or \"5m\"; above zero and at most 24h0m15s.")
}

// previous judges the blocks as the handler will.
func (c checker) previous(earlier []previous) {
	store := types.StringNull()
	for i, p := range earlier {
		at, words := path.Root("previous").AtListIndex(i), fmt.Sprintf("previous[%d]", i)
		if given(p.Store) {
			if given(store) && !store.Equal(p.Store) {
				c.refuse(at.AtName("store"), words+".store", fmt.Sprintf("%q is a second previous store", p.Store.ValueString()),
					"A handler remembers one.\n\nServe the jobs of the other store by a handler of their own while their names change.")
			}
			store = p.Store
			if _, err := generator.Plan(generator.Spec{Name: "previous", Store: p.Store.ValueString()}); err != nil {
				c.refuse(at.AtName("store"), words+".store", "it cannot be used", err.Error()+".")
			}
		}
		c.naming(at, words, p)
	}
	if text := encodePrevious(earlier); !text.IsUnknown() && !c.diags.HasError() {
		_, err := run.ParsePrevious(text.ValueString())
		if bad, ok := errors.AsType[*run.PolicyError](err); ok {
			c.refuse(path.Root("previous"), "previous", fmt.Sprintf("%s %q %s", previousAttributes()[bad.Key], bad.Value, bad.Reason),
				"Handlers read these blocks when they start, and would not start with them.")
		}
	}
}

// naming judges what one block says about names, key by key.
func (c checker) naming(at path.Path, words string, p previous) {
	if _, err := time.Parse(time.RFC3339, p.Until.ValueString()); given(p.Until) && err != nil {
		c.refuse(at.AtName("until"), words+".until", fmt.Sprintf("%q is not a time", p.Until.ValueString()),
			"Write RFC 3339, such as 2027-01-31T00:00:00Z.")
		return
	}
	if encodePrevious([]previous{p}).IsUnknown() {
		return
	}
	_, err := run.ParsePrevious(run.EncodePrevious([]run.Previous{p.naming()}))
	if bad, ok := errors.AsType[*run.PolicyError](err); ok {
		attribute := cmp.Or(previousAttributes()[bad.Key], "until")
		c.refuse(at.AtName(attribute), words+"."+attribute, fmt.Sprintf("%q cannot be used", bad.Value), "It "+bad.Reason+".")
	}
}

// previousAttributes maps the keys that a handler reads to the attributes they come from.
func previousAttributes() map[string]string {
	return map[string]string{"job": "job", "format": "run_id_format", "scope": "run_scope", "forced": "forced_runs", "until": "until"}
}

// generated has the generator judge the rest. What is not known yet is judged as if it were left out, but for the name and the jobs.
func (c checker) generated(ctx context.Context, m model, unknownParts bool) {
	spec, _ := m.spec(ctx, "", c.diags)
	if unknownParts {
		spec.Kind, spec.Forward, spec.Webhook, spec.API = "", nil, nil, nil // What only a kind has is judged when it is known.
	}
	if m.Name.IsUnknown() {
		spec.Name = "unknown"
	}
	if _, err := generator.Plan(spec); err != nil {
		m.refuse(err, c.diags)
	}
}

func isAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}
