package handler

import (
	"context"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

func text(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

// Schema lays out the type.
func (*Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A handler: the program that does the work of one or several jobs. It makes no object in the cloud; it " +
			"says what the service that runs it needs (`env`, `files`, `required_roles`) and what its jobs may rely on (`contract`). " +
			"Nothing of it follows from the service's address, so that handler, service, roles and jobs depend on each other in that " +
			"order, without a cycle.",
		Attributes: attributes(),
		Blocks:     map[string]schema.Block{"previous": previousBlock()},
	}
	maps.Copy(resp.Schema.Attributes, computedAttributes())
}

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true, MarkdownDescription: "The handler's name, `[A-Za-z0-9_-]{1,500}`.",
		},
		"kind": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("http"),
			MarkdownDescription: "Where it runs, one of `" + strings.Join(generator.Kinds(), "`, `") + "`. Unset: `http`, which is Cloud " +
				"Run and anything else that runs a container. `webhook` and `api` are called by others than Cloud Scheduler.",
		},
		"module":  text("The path of its Go module. Unset: `example.com/` and the name."),
		"package": text("Its Go package. Unset: `main`."),
		"jobs": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "The short names of the jobs that it serves, each with a function of its own. Unset: it serves any job, " +
				"with one function.",
		},
		"project": schema.StringAttribute{
			Optional: true, Computed: true, MarkdownDescription: "The project of its jobs. Unset: the provider's.",
		},
		"region": text("The region to assume for a delivery that names none. Unset: such a delivery is refused."),
		"store": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Where claims are kept, a URL without a password, such as the `url` of an `idempotent_run_store`. Unset: " +
				"`firestore://{project}/(default)/scheduler_runs`; for kind `webhook`, which keeps events there until they are done, " +
				"`…/webhook_inbox`, and for `api` `…/idempotency_keys`.",
		},
		"service_account_email": text("The service account that it runs as: the member of the roles that it needs itself."),
		"caller": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "How it finds out who calls: `cloud_run_iam` (Cloud Run and functions have checked the token), `verify` " +
				"(it checks the token itself, anywhere else), `app_engine`, or `insecure` (from the same machine only). Unset: what its " +
				"kind has; `verify` for `webhook`, whose service is open to its sender, and none for `api`.",
		},
		"callers": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "The service accounts that may call, as the jobs' `oidc_token` has them; `*@PROJECT.iam.gserviceaccount.com` " +
				"for all of a project. Unset: those of `project`.",
		},
		"request_timeout": schema.StringAttribute{
			Optional: true, CustomType: spelling.Type{Kind: spelling.Duration},
			PlanModifiers: []planmodifier.String{spelling.Keep(spelling.Duration)},
			MarkdownDescription: "The longest that its platform lets a request live, such as `300s`. Unset: the attempt deadline of each " +
				"job. For kinds `webhook` and `api`: the longest that one event or request may take; unset: `60s`.",
		},
		"audience": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "For whom the jobs' tokens are. Unset: a constant, `idempotent/{project}/{name}`, which the Cloud Run " +
				"service lists in `custom_audiences`; none where the platform accepts its own address alone or reads no token.",
		},
		"output_dir": text("The folder that its files are written to at apply. Unset: they are only in `files`."),
		"forward": schema.MapNestedAttribute{
			Optional: true,
			MarkdownDescription: "What the runs of each job start, by the job's name, for the kinds that forward. Nothing that a caller sends " +
				"can choose another target.",
			NestedObject: schema.NestedAttributeObject{Attributes: forwardAttributes()},
		},
		"webhook": webhookAttribute(),
		"api":     apiAttribute(),
	}
}

func previousBlock() schema.Block {
	return schema.ListNestedBlock{
		MarkdownDescription: "How runs were named before a change of store, format, scope or forced policy. Until the time given, a run " +
			"is claimed under that name first and its own second, so that the change neither repeats a run nor loses one.",
		NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
			"job":           text("The job whose runs had that name. Unset: every job that no other block names."),
			"store":         text("The URL of the store that held the claims. Unset: the same store."),
			"run_id_format": text("`v1` (default) or `sample`."),
			"run_scope":     text("The scope that runs had. Unset: none."),
			"forced_runs":   text("`separate` (default), `skip_next` or `reject`."),
			"until": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "When no delivery of a run under that name can come any more, RFC 3339: the change plus the jobs' retention.",
			},
		}},
	}
}

func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true, MarkdownDescription: "The name."},
		"env": schema.MapAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "The environment variables that the service must have. No secret is among them: the password of a store " +
				"comes from a secret of the platform's.",
		},
		"files": schema.MapAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "The generated program: path to content.",
		},
		"contract": schema.StringAttribute{
			Computed: true, MarkdownDescription: "What its jobs may rely on: their `deduplication.contract`. Null for kind `api`, which no job calls.",
		},
		"required_roles": schema.MapNestedAttribute{
			Computed: true,
			MarkdownDescription: "The IAM roles without which it cannot work, each on the narrowest resource that takes it. The keys follow " +
				"from the configuration alone, so that `for_each` can go over them: `store` for the claims; `invoke` for the first of " +
				"`callers`, `invoke_2` for the second; `start:JOB` and `look_up:JOB` for what the runs of a job start. " +
				"Builds also need `roles/iam.serviceAccountUser` on the account that the trigger builds as, which only the trigger names.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"role":   schema.StringAttribute{Computed: true, MarkdownDescription: "The role."},
				"member": schema.StringAttribute{Computed: true, MarkdownDescription: "Who needs it."},
				"resource_type": schema.StringAttribute{
					Computed: true, MarkdownDescription: "What it is granted on: `project`, `cloud_run_service`, `spanner_database`, " +
						"`workflow` or `cloud_run_job`.",
				},
				"resource": schema.StringAttribute{
					Computed: true, MarkdownDescription: "The resource's full name. Null for `cloud_run_service`: it is the service that runs the handler.",
				},
				"condition": schema.StringAttribute{
					Computed: true, MarkdownDescription: "A condition that narrows a grant on a project to the one resource meant, as an IAM " +
						"expression. Null: none.",
				},
			}},
		},
	}
}

func roleTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"role": types.StringType, "member": types.StringType, "resource_type": types.StringType, "resource": types.StringType,
		"condition": types.StringType,
	}
}
