package scheduledjob

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// routingPart is what App Engine's names of services, versions and instances are made of: each becomes a part of a host name.
var routingPart = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,98}[A-Za-z0-9])?$`)

// checkRouting refuses names that cannot be part of a host.
func (m model) checkRouting(diags *diag.Diagnostics) {
	target, _ := only[appEngineTarget](m.AppEngineTarget, diags)
	if target == nil {
		return
	}
	routing, _ := only[appEngineRouting](target.Routing, diags)
	if routing == nil {
		return
	}
	at := path.Root("app_engine_http_target").AtListIndex(0).AtName("app_engine_routing").AtListIndex(0)
	for _, part := range []struct {
		name  string
		value types.String
	}{{"service", routing.Service}, {"version", routing.Version}, {"instance", routing.Instance}} {
		text := part.value.ValueString()
		if part.value.IsNull() || part.value.IsUnknown() || text == "" || routingPart.MatchString(text) {
			continue
		}
		at := at.AtName(part.name)
		diags.AddAttributeError(at, fmt.Sprintf("%s of job %q: %q cannot be part of a host", explain.Words(at), m.Name.ValueString(), text),
			"Service, version and instance are parts of the host name that App Engine gives them.\n\n"+
				"Set it to letters, digits and hyphens, without a hyphen at either end.")
	}
}
