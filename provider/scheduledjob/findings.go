package scheduledjob

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// report turns findings into diagnostics at their attributes. Without warnings only errors are reported.
func report(findings []jobspec.Finding, warnings bool) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, finding := range findings {
		at := attributePath(finding.Path)
		switch {
		case finding.Severity == jobspec.Error:
			diags.AddAttributeError(at, finding.Summary, finding.Message())
		case warnings:
			diags.AddAttributeWarning(at, finding.Summary, finding.Message())
		}
	}
	return diags
}

// attributePath is the path of a finding as the framework writes it. A name below a map is a key of the map.
func attributePath(segments jobspec.Path) path.Path {
	at := path.Empty()
	inMap := false
	for _, segment := range segments {
		switch segment := segment.(type) {
		case int:
			at = at.AtListIndex(segment)
		case string:
			if inMap {
				at = at.AtMapKey(segment)
			} else {
				at = at.AtName(segment)
			}
			inMap = segment == "headers" || segment == "headers_wo" || segment == "accepted_risks"
		}
	}
	return at
}
