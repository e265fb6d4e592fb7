package scheduledjob

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// single is a block that may be there once, as a list: so HCL, dynamic blocks and [0] references of the incumbent carry over.
func single(description string, attributes map[string]schema.Attribute, blocks map[string]schema.Block) schema.ListNestedBlock {
	return schema.ListNestedBlock{
		MarkdownDescription: description,
		Validators:          []validator.List{listvalidator.SizeAtMost(1)},
		NestedObject:        schema.NestedBlockObject{Attributes: attributes, Blocks: blocks},
	}
}

func httpTargetBlock() schema.Block {
	return single("The HTTP request that each run sends.",
		requestAttributes("uri", schema.StringAttribute{
			Required: true, CustomType: spelling.Type{Kind: spelling.Address},
			PlanModifiers:       []planmodifier.String{spelling.Keep(spelling.Address)},
			MarkdownDescription: "Where the request goes, `http://` or `https://`.",
		}),
		map[string]schema.Block{
			"oidc_token": single("An OpenID Connect token that identifies the caller to the handler.", map[string]schema.Attribute{
				"service_account_email": schema.StringAttribute{
					Required: true, MarkdownDescription: "The account that the token identifies, of the job's project.",
				},
				"audience": schema.StringAttribute{
					Optional: true, Computed: true,
					MarkdownDescription: "For whom the token is. Unset: the handler's, as far as it follows from the URI.",
				},
			}, nil),
			"oauth_token": single("An OAuth access token, for `*.googleapis.com` only.", map[string]schema.Attribute{
				"service_account_email": schema.StringAttribute{
					Required: true, MarkdownDescription: "The account that the token belongs to, of the job's project.",
				},
				"scope": schema.StringAttribute{
					Optional: true, Computed: true,
					MarkdownDescription: "What the token allows. Unset: `" + cloudPlatformScope + "`.",
				},
			}, nil),
		})
}

func appEngineTargetBlock() schema.Block {
	return single("The request to an App Engine service that each run sends. It needs an `attempt_deadline`, or a lease that is renewed.",
		requestAttributes("relative_uri", schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "The path and query that the request goes to; it begins with `/`.",
		}),
		map[string]schema.Block{
			"app_engine_routing": single("Which service gets the request. Without the block: the default service.", map[string]schema.Attribute{
				"service":  text("The service. Unset: the default one."),
				"version":  text("The version. Unset: as the service's traffic is split."),
				"instance": text("The instance. Unset: any."),
			}, nil),
		})
}

// requestAttributes are what both kinds of target have in common, and the one by which they differ.
func requestAttributes(address string, attribute schema.Attribute) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		address: attribute,
		"http_method": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "The method. Unset: `POST`.",
		},
		"body": schema.StringAttribute{
			Optional: true, CustomType: spelling.Type{Kind: spelling.Base64},
			PlanModifiers:       []planmodifier.String{spelling.Keep(spelling.Base64)},
			MarkdownDescription: "The request's body in base64. Conflicts with `body_text`.",
		},
		"body_text": schema.StringAttribute{
			Optional: true, MarkdownDescription: "The request's body as it is. Conflicts with `body`.",
		},
		"headers": schema.MapAttribute{
			ElementType: types.StringType, Optional: true,
			MarkdownDescription: "Headers of the request. Names that Cloud Scheduler or this provider sets are refused.",
		},
		"headers_wo": schema.MapAttribute{
			ElementType: types.StringType, Optional: true, WriteOnly: true,
			MarkdownDescription: "Further headers whose values are in no plan and no state; whoever may read the job at Cloud Scheduler can " +
				"read them there. They are sent when `headers_wo_version` changes, and with every other change of the target. Needs " +
				"Terraform 1.11 or OpenTofu 1.11.",
		},
		"headers_wo_version": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Stands for the values of `headers_wo`: change it to have new values sent, since nothing else tells them " +
				"from the old ones.",
		},
	}
}

// cloudPlatformScope is what the server assumes for an access token without a scope.
const cloudPlatformScope = "https://www.googleapis.com/auth/cloud-platform"
