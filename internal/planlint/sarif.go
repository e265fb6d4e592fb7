package planlint

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/idempotent-jobs/terraform-provider-idempotent/docs/rules"
)

const (
	toolName = "terraform-provider-idempotent"
	toolHome = "https://github.com/idempotent-jobs/terraform-provider-idempotent"
)

// PageURL is where the page of a rule can be read.
func PageURL(id string) string { return toolHome + "/blob/main/docs/rules/" + id + ".md" }

// WriteSARIF prints a result in SARIF 2.1.0. document is the file that was checked: findings without a position in the
// configuration are shown there, since code scanning shows only what has a file.
func WriteSARIF(w io.Writer, r Result, document, version string) error {
	driver := sarif.NewToolComponent().WithName(toolName).WithInformationURI(toolHome).WithVersion(version)
	index := map[string]int{}
	for i, rule := range Rules() {
		id := string(rule.ID)
		index[id] = i
		page, _ := rules.Page(id)
		driver.AddRule(sarif.NewReportingDescriptor().WithID(id).WithHelpURI(PageURL(id)).
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(rule.Title)).
			WithHelp(sarif.NewMultiformatMessageString().WithText(page).WithMarkdown(page)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(rule.Level.String())))
	}
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(driver))
	for _, f := range r.Findings {
		run.AddResult(sarifResult(f, document, index[string(f.Rule)]))
	}
	for _, f := range r.Suppressed {
		kind := "external"
		if f.Accepted {
			kind = "inSource"
		}
		run.AddResult(sarifResult(f, document, index[string(f.Rule)]).
			AddSuppression(sarif.NewSuppression().WithKind(kind).WithJustification(f.Reason)))
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return report.PrettyWrite(w)
}

func sarifResult(f Finding, document string, rule int) *sarif.Result {
	file, line := f.Position.File, max(f.Position.Line, 1)
	if file == "" {
		file = document
	}
	kind := "resource"
	place := sarif.NewLocation().
		WithPhysicalLocation(sarif.NewPhysicalLocation().
			WithArtifactLocation(sarif.NewArtifactLocation().WithURI((&url.URL{Path: file}).String())).
			WithRegion(sarif.NewRegion().WithStartLine(line))).
		AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(f.Address).WithKind(kind))
	return sarif.NewResult().WithRuleID(string(f.Rule)).WithRuleIndex(rule).WithLevel(f.Level.String()).
		WithMessage(sarif.NewTextMessage(f.Summary + ".\n\n" + f.Detail + "\n\n" + f.Remedy)).
		AddLocation(place).
		WithPartialFingerprints(map[string]string{"resourceRulePath/v1": fingerprint(f)})
}

// fingerprint stays the same while lines move and numbers in messages change.
func fingerprint(f Finding) string {
	sum := sha256.Sum256([]byte(f.Address + "\x00" + string(f.Rule) + "\x00" + f.Path.String()))
	return hex.EncodeToString(sum[:16])
}
