package planlint

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// handlerOutput is the handler that a resource generates: into which folder, and which files. The zero handlerOutput is none.
type handlerOutput struct {
	folder string
	files  jobspec.Value[map[string]jobspec.Value[string]]
	path   jobspec.Path
}

// outputOf reads the handler of a job or of an idempotent_handler.
func outputOf(r *resource, n node) handlerOutput {
	switch r.kind {
	case typeOurJob:
		block, _ := n.block("handler")
		return handlerOutput{block.attribute("output_dir").text().OrZero(), n.attribute("handler_files").texts(), jobspec.Path{"handler", 0, "output_dir"}}
	case typeOurHandler:
		return handlerOutput{n.attribute("output_dir").text().OrZero(), n.attribute("files").texts(), jobspec.Path{"output_dir"}}
	}
	return handlerOutput{}
}

// checkHandlers holds each generated handler on disk against the files that the plan would write.
func (c *checker) checkHandlers() {
	if c.options.Folder == "" {
		return
	}
	for _, j := range c.jobs {
		c.checkHandler(j.resource, j.output)
	}
	for _, r := range c.document.resources {
		if r.kind == typeOurHandler && r.stays() {
			c.checkHandler(r, outputOf(r, r.planned()))
		}
	}
}

func (c *checker) checkHandler(r *resource, output handlerOutput) {
	if output.folder == "" {
		return
	}
	written := output.folder
	if !filepath.IsAbs(written) {
		written = filepath.Join(c.options.Folder, written)
	}
	if _, err := os.Stat(filepath.Join(written, generator.ManifestPath)); err != nil {
		return // nothing was generated yet: apply does it
	}
	contents := map[string]string{}
	for name, content := range output.files.OrZero() {
		text, known := content.Get()
		if !known {
			c.wait(r, jobspec.HandlerOutdated)
			return
		}
		contents[name] = text
	}
	if output.files.IsUnknown() {
		c.wait(r, jobspec.HandlerOutdated)
		return
	}
	if what := outdated(written, contents); what != "" {
		c.report(r, Finding{
			Rule: jobspec.HandlerOutdated, Path: output.path,
			Summary: r.address + ": the handler in " + filepath.ToSlash(output.folder) + " is not the one of this plan",
			Detail:  what, Remedy: "Run `terraform-provider-idempotent generate --from PLAN`, review what changed, and deploy the handler.",
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
