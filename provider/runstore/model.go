package runstore

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// model is the resource as configuration, plan and state hold it.
type model struct {
	ID              types.String   `tfsdk:"id"`
	Project         types.String   `tfsdk:"project"`
	Database        types.String   `tfsdk:"database"`
	Collection      types.String   `tfsdk:"collection"`
	IndexExemptions types.Bool     `tfsdk:"index_exemptions"`
	DeletionPolicy  types.String   `tfsdk:"deletion_policy"`
	URL             types.String   `tfsdk:"url"`
	TTLField        types.String   `tfsdk:"ttl_field"`
	TTLState        types.String   `tfsdk:"ttl_state"`
	ExemptFields    types.List     `tfsdk:"exempt_fields"`
	Timeouts        timeouts.Value `tfsdk:"timeouts"`
}

// place is the collection; its parts are known in every state.
func (m model) place() ttl.Collection {
	return ttl.Collection{Project: m.Project.ValueString(), Database: m.Database.ValueString(), Group: m.Collection.ValueString()}
}

// name fills in what follows from the place, unknown while a part of it is.
func (m *model) name() {
	if m.Project.IsUnknown() || m.Database.IsUnknown() || m.Collection.IsUnknown() {
		m.ID, m.URL = types.StringUnknown(), types.StringUnknown()
		return
	}
	m.ID, m.URL = types.StringValue(m.place().GroupName()), types.StringValue(m.place().String())
}

// fromAPI writes into the state what the database says.
func (m *model) fromAPI(live ttl.Settings) {
	m.name()
	m.TTLField, m.TTLState = types.StringValue(live.Field), types.StringValue(live.Policy)
	if m.IndexExemptions.ValueBool() {
		exempt := slices.DeleteFunc(slices.Clone(live.Exempt), func(field string) bool { return !slices.Contains(exemptable(), field) })
		m.ExemptFields = listOf(exempt)
	} else {
		m.ExemptFields = listOf(nil)
	}
}

func listOf(texts []string) types.List {
	elements := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		elements = append(elements, types.StringValue(text))
	}
	return types.ListValueMust(types.StringType, elements)
}
