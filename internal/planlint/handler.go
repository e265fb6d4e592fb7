package planlint

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// checkHandler holds a generated handler on disk against the files that the plan would write.
func (c *checker) checkHandler(r *resource) {
	if c.options.Folder == "" || !r.stays() {
		return
	}
	n := r.planned()
	var folder, files node
	path := jobspec.Path{"output_dir"}
	switch r.kind {
	case typeOurJob:
		block, _ := n.block("handler")
		folder, files = block.attribute("output_dir"), n.attribute("handler_files")
		path = jobspec.Path{"handler", 0, "output_dir"}
	case typeOurHandler:
		folder, files = n.attribute("output_dir"), n.attribute("files")
	default:
		return
	}
	dir, ok := folder.text().Get()
	if !ok || dir == "" {
		return
	}
	written := dir
	if !filepath.IsAbs(dir) {
		written = filepath.Join(c.options.Folder, dir)
	}
	if _, err := os.Stat(filepath.Join(written, generator.ManifestPath)); err != nil {
		return // nothing was generated yet: apply does it
	}
	contents := map[string]string{}
	for name, content := range files.texts().OrZero() {
		text, known := content.Get()
		if !known {
			c.wait(r, ruleHandler)
			return
		}
		contents[name] = text
	}
	if files.isUnknown() {
		c.wait(r, ruleHandler)
		return
	}
	if what := outdated(written, contents); what != "" {
		c.report(r, Finding{
			Rule: ruleHandler, Path: path, Summary: r.address + ": the handler in " + filepath.ToSlash(dir) + " is not the one of this plan",
			Detail: what, Remedy: "Run `terraform-provider-idempotent generate --from PLAN`, review what changed, and deploy the handler.",
		})
	}
}

// outdated says how a folder differs from what would be generated, "" when it does not.
func outdated(dir string, contents map[string]string) string {
	files, err := generator.FromContents(contents)
	if err != nil {
		return "The plan's files cannot be compared: " + firstLine(err) + "."
	}
	report, err := generator.Write(dir, files, generator.Check)
	switch {
	case err != nil:
		return "The folder cannot be brought up to date: " + firstLine(err) + "."
	case !report.Changed():
		return ""
	}
	return "These files differ from what its spec gives now: " + several(slices.Concat(report.Written, report.Deleted)) + "."
}
