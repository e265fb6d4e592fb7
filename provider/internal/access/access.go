// Package access is what the provider block hands to every object: the settings and the connections.
package access

import (
	"slices"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// Access is one configured provider.
type Access struct {
	Settings google.Settings
	Version  string // the provider's, "" for a build from source
	Jobs     *jobs.Client
	Policies *ttl.Policies

	unknown []string
}

// New opens nothing yet: each connection is opened by its first request. unknown are the attributes of the provider block that are
// not known before apply.
func New(settings google.Settings, version string, unknown []string) *Access {
	return &Access{Settings: settings, Version: version, Jobs: jobs.New(settings), Policies: ttl.New(settings), unknown: unknown}
}

// Unknown says whether an attribute of the provider block is not known before apply.
func (a *Access) Unknown(attribute string) bool { return slices.Contains(a.unknown, attribute) }
