package jobspec

import "github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"

// policyZone is the zone as the policy header names it: empty for UTC, which is its default.
func policyZone(name string) string {
	if zone := unixcron.CanonicalZone(name); zone != "Etc/UTC" {
		return zone
	}
	return ""
}
