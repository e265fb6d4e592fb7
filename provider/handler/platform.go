package handler

import "github.com/hashicorp/terraform-plugin-framework/types"

// How a handler may find out who calls, as the environment variable IDEMPOTENT_CALLER spells it.
const (
	callerVerify      = "verify"
	callerCloudRunIAM = "cloud_run_iam"
	callerAppEngine   = "app_engine"
	callerInsecure    = "insecure"
)

// platform is what a kind of handler finds where it runs.
type platform struct {
	// caller is how callers are checked unless something else is asked for. Empty: the handler checks none, the platform may.
	caller string
	// customAudience says that tokens can be for a name of one's own choice. Otherwise the platform accepts its own address alone.
	customAudience bool
	// invoker is the role that lets a caller in, on the service itself. Empty: the platform lets Cloud Scheduler in by itself.
	invoker string
}

// platformOf is the platform of a kind. Kinds that are not named run on Cloud Run.
func platformOf(kind string) platform {
	switch kind {
	case "appengine":
		return platform{caller: callerAppEngine}
	case "function":
		return platform{caller: callerCloudRunIAM, invoker: invokerRole}
	case kindWebhook: // the platform lets everybody in to it
		return platform{caller: callerVerify, customAudience: true}
	case kindAPI:
		return platform{invoker: invokerRole}
	default:
		return platform{caller: callerCloudRunIAM, customAudience: true, invoker: invokerRole}
	}
}

// The kinds that are called by others than Cloud Scheduler.
const (
	kindWebhook = "webhook"
	kindAPI     = "api"
)

func (p platform) callerOrNone() *string {
	if p.caller == "" {
		return nil
	}
	return &p.caller
}

// invokerRole lets a caller into a Cloud Run service; a function of the second generation is one.
const invokerRole = "roles/run.invoker"

// planAudience is for whom tokens are: as given, else a constant that does not follow from any address, so that nothing has to wait
// for the service. Null: the platform takes its own address alone, or reads no token.
func (m model) planAudience(config model) types.String {
	switch {
	case !config.Audience.IsNull():
		return config.Audience
	case m.Kind.IsUnknown() || m.Caller.IsUnknown() || m.Name.IsUnknown() || m.Project.IsUnknown():
		return types.StringUnknown()
	case m.Kind.ValueString() == kindAPI, m.Caller.ValueString() == callerAppEngine, m.Caller.ValueString() == callerInsecure,
		m.Caller.ValueString() == callerCloudRunIAM && !platformOf(m.Kind.ValueString()).customAudience:
		return types.StringNull()
	default:
		return types.StringValue("idempotent/" + m.Project.ValueString() + "/" + m.Name.ValueString())
	}
}
