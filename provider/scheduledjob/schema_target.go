package scheduledjob

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
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
		map[string]schema.Attribute{
			"uri": schema.StringAttribute{
				Required: true, CustomType: spelling.Type{Kind: spelling.Address},
				PlanModifiers:       []planmodifier.String{spelling.Keep(spelling.Address)},
				MarkdownDescription: "Where the request goes, `http://` or `https://`.",
			},
			"http_method": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("POST"),
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
		},
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
					Optional: true, Computed: true, Default: stringdefault.StaticString(cloudPlatformScope),
					MarkdownDescription: "What the token allows. Unset: `" + cloudPlatformScope + "`.",
				},
			}, nil),
		})
}

// cloudPlatformScope is what the server assumes for an access token without a scope.
const cloudPlatformScope = "https://www.googleapis.com/auth/cloud-platform"
