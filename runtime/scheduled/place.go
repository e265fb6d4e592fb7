package scheduled

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// place is one of the two coordinates of a job that Cloud Scheduler does not send: project or region.
type place struct {
	part    string // project or region: also the name of the query parameter and of the mux pattern's wildcard
	segment string // the path segment before it in a resource name
	header  string
	env     string
	check   func(string) error
}

func projectPlace() place {
	return place{"project", "projects", run.HeaderProject, run.EnvProject, run.CheckProject}
}

func regionPlace() place {
	return place{"region", "locations", run.HeaderRegion, run.EnvRegion, run.CheckRegion}
}

// find looks in the header, then the path, then the query, then takes the handler's own setting. Empty: none of them has it.
func (p place) find(r *http.Request, header []string, own string) (string, error) {
	value, err := one(p.header, header)
	if err != nil {
		return "", err
	}
	where := "header " + p.header
	if len(header) == 0 {
		if value, where, err = p.inURL(r); err != nil {
			return "", err
		}
	}
	if where == "" {
		return own, nil
	}
	if err := p.check(value); err != nil {
		return "", bad(where+": "+err.Error(), "send the job's own "+p.part)
	}
	return value, nil
}

func (p place) inURL(r *http.Request) (value, where string, err error) {
	if value := r.PathValue(p.part); value != "" {
		return value, "path", nil
	}
	if value, found := p.inPath(r.URL.Path); found {
		return value, "path", nil
	}
	if r.URL.RawQuery == "" {
		return "", "", nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", "", bad("the query of the URL cannot be read", "escape it as URLs need it")
	}
	switch values := query[p.part]; len(values) {
	case 0:
		return "", "", nil
	case 1:
		return values[0], "query parameter " + p.part, nil
	default:
		return "", "", bad(fmt.Sprintf("query parameter %s is there %d times", p.part, len(values)), "send it once")
	}
}

// inPath finds the value in a path that holds projects/P/locations/R somewhere.
func (p place) inPath(path string) (string, bool) {
	if len(path) < len("projects/p/locations/r") {
		return "", false
	}
	segments := strings.Split(path, "/")
	for i := 0; i+3 < len(segments); i++ {
		if segments[i] == "projects" && segments[i+2] == "locations" {
			if p.segment == "projects" {
				return segments[i+1], true
			}
			return segments[i+3], true
		}
	}
	return "", false
}

// missing is the refusal of a delivery whose run cannot be named without this place.
func (p place) missing(c caller.Caller) error {
	mend := fmt.Sprintf("send the header %s, as the provider does, a query parameter %s, or set %s", p.header, p.part, p.env)
	if !c.Verified {
		mend = fmt.Sprintf("set %s or send a query parameter %s: the header %s does not count from callers that are not verified", p.env, p.part,
			p.header)
	}
	return bad("the "+p.part+" of the job is not known", mend)
}

// checkProject refuses a project that is not the verified caller's own. An address that names no project was in the list of callers.
func checkProject(c caller.Caller, project string) error {
	if !c.Verified || c.ProjectFromEmail == "" || project == "" || project == c.ProjectFromEmail {
		return nil
	}
	return &refusal{
		status: http.StatusForbidden,
		reason: fmt.Sprintf("project %q is not the caller's, which is %q", project, c.ProjectFromEmail),
		mend:   "let the job call as a service account of its own project",
	}
}
