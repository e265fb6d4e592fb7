package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// What deletion_policy may say.
const (
	deletionAbandon = "ABANDON"
	deletionDelete  = "DELETE"
	deletionPrevent = "PREVENT"
)

// What a handler uses where nothing else is said.
const (
	defaultDatabase   = "(default)"
	defaultCollection = "scheduler_runs"
)

// exemptable are the fields of a claim that no query filters by: two times that only grow, whose indexes would limit the writes of
// the whole collection, and the stored result.
func exemptable() []string { return []string{"expire_at", "lease_expires", "result"} }

// Schema lays out the type.
func (*Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The Firestore collection that claims are kept in: its expiry policy and its index exemptions. A " +
			"`idempotent_scheduled_job` ensures the policy by itself; this resource owns it, in one place, and adds the exemptions. " +
			"Claims are never touched.",
		Attributes: map[string]schema.Attribute{
			"project": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "The project. Unset: the provider's.",
			},
			"database": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultDatabase), PlanModifiers: replace,
				MarkdownDescription: "The Firestore database, which must be there. Unset: `(default)`.",
			},
			"collection": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultCollection), PlanModifiers: replace,
				MarkdownDescription: "The collection. Unset: `scheduler_runs`, where handlers keep claims unless told otherwise.",
			},
			"index_exemptions": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Whether `expire_at`, `lease_expires` and `result` are taken out of the single-field indexes: without " +
					"that a collection takes about 500 claims a second. Databases in Datastore mode and Enterprise edition do not take " +
					"exemptions; set it to false there. What was exempted stays so when this becomes false. Unset: true.",
			},
			"deletion_policy": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(deletionAbandon),
				MarkdownDescription: "What destroying does: `ABANDON` leaves the settings as they are (default), `DELETE` takes policy and " +
					"exemptions away, so that claims stay for ever, `PREVENT` refuses the plan.",
			},
			"id": schema.StringAttribute{
				Computed: true, MarkdownDescription: "`projects/{project}/databases/{database}/collectionGroups/{collection}`.",
			},
			"url": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "The store as handlers and jobs name it, `firestore://{project}/{database}/{collection}`.",
			},
			"ttl_field": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "The field that carries the expiry policy: `expire_at`. Empty when somebody took the policy away.",
			},
			"ttl_state": schema.StringAttribute{
				Computed: true, MarkdownDescription: "The policy's state as the database calls it. `CREATING` and `ACTIVE` both cover new " +
					"claims; `NEEDS_REPAIR` does too, but some older ones may stay.",
			},
			"exempt_fields": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The exempted fields, of those that `index_exemptions` is about.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Read: true, Update: true, Delete: true}),
		},
	}
}
