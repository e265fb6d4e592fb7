package scheduledjob

import (
	"slices"
	"strings"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// routingFromAPI is the routing block. The server gives back no more than the host that service, version and instance make; as long as
// they make it, the block stays as it was.
func routingFromAPI(prior *appEngineRouting, live *schedulerpb.AppEngineRouting, project string) *appEngineRouting {
	service, version, instance := live.GetService(), live.GetVersion(), live.GetInstance()
	if service == "" && version == "" && instance == "" {
		parts, ok := hostParts(live.GetHost(), project)
		if !ok || slices.Equal(parts, prior.parts()) {
			return prior
		}
		service, version, instance = named(parts)
	}
	next := &appEngineRouting{Service: types.StringNull(), Version: types.StringNull(), Instance: types.StringNull()}
	if prior != nil {
		*next = *prior
	}
	next.Service = keepNull(next.Service, service)
	next.Version = keepNull(next.Version, version)
	next.Instance = keepNull(next.Instance, instance)
	if prior == nil && service+version+instance == "" {
		return nil
	}
	return next
}

// parts are what stands before the project in the host: instance, version and service, as far as they are given.
func (r *appEngineRouting) parts() []string {
	var parts []string
	if r == nil {
		return parts
	}
	for _, part := range []string{r.Instance.ValueString(), r.Version.ValueString(), r.Service.ValueString()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return withoutDefault(parts)
}

// hostParts splits a host such as v2.worker.acme-prod.appspot.com or v2-dot-worker-dot-acme-prod.ew.r.appspot.com. False: it is not a
// host of the project, a custom domain say, which tells nothing.
func hostParts(host, project string) ([]string, bool) {
	if domain, id, scoped := strings.Cut(project, ":"); scoped {
		project = id + "." + domain
	}
	before, _, found := strings.Cut("."+strings.ReplaceAll(host, "-dot-", "."), "."+project+".")
	if !found {
		return nil, false
	}
	before = strings.TrimPrefix(before, ".")
	if before == "" {
		return nil, true
	}
	return withoutDefault(strings.Split(before, ".")), true
}

// withoutDefault leaves out the default service, which need not be named.
func withoutDefault(parts []string) []string {
	if len(parts) > 0 && parts[len(parts)-1] == "default" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return nil
	}
	return parts
}

// named reads parts as service, version.service or instance.version.service.
func named(parts []string) (service, version, instance string) {
	all := append(make([]string, max(0, 3-len(parts))), parts...)
	return all[2], all[1], all[0]
}
