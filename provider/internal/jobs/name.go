package jobs

import (
	"fmt"
	"regexp"
	"strings"
)

// Name is where a job is.
type Name struct{ Project, Region, Job string }

// String is the full name, projects/{project}/locations/{region}/jobs/{job}.
func (n Name) String() string { return n.Parent() + "/jobs/" + n.Job }

// Parent is the location that holds the job.
func (n Name) Parent() string { return "projects/" + n.Project + "/locations/" + n.Region }

var fullName = regexp.MustCompile(`^(?://cloudscheduler\.googleapis\.com/)?projects/([^/]+)/locations/([^/]+)/jobs/([^/]+)$`)

// ParseName reads every form in which people write a job: its full name, project/region/name, region/name and name. What a short
// form leaves out is taken from the defaults; the error names the one that is missing.
func ParseName(text, project, region string) (Name, error) {
	name := Name{Project: project, Region: region}
	if match := fullName.FindStringSubmatch(text); match != nil {
		return Name{Project: match[1], Region: match[2], Job: match[3]}, nil
	}
	parts := strings.Split(text, "/")
	switch {
	case strings.Contains("/"+text+"/", "//") || len(parts) > 3:
		return Name{}, fmt.Errorf("%q is none of the forms projects/PROJECT/locations/REGION/jobs/NAME, PROJECT/REGION/NAME, REGION/NAME and NAME", text)
	case len(parts) == 3:
		name = Name{Project: parts[0], Region: parts[1], Job: parts[2]}
	case len(parts) == 2:
		name.Region, name.Job = parts[0], parts[1]
	default:
		name.Job = parts[0]
	}
	if name.Project == "" {
		return Name{}, fmt.Errorf("%q names no project and the provider has none: set project in the provider block, or import projects/PROJECT/locations/REGION/jobs/%s", text, name.Job)
	}
	if name.Region == "" {
		return Name{}, fmt.Errorf("%q names no region and the provider has none: set region in the provider block, or import projects/%s/locations/REGION/jobs/%s", text, name.Project, name.Job)
	}
	return name, nil
}
