package localcloud

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	projectPattern = regexp.MustCompile(`^[A-Za-z0-9:.-]+$`)
	jobPattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,500}$`)
)

// jobName is projects/P/locations/L/jobs/J taken apart.
type jobName struct{ project, location, job string }

func (n jobName) parent() string { return "projects/" + n.project + "/locations/" + n.location }

func (n jobName) String() string { return n.parent() + "/jobs/" + n.job }

// parseJobName accepts a full name of a job and refuses everything else as the API does.
func parseJobName(name string) (jobName, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 6 || parts[0] != "projects" || parts[2] != "locations" || parts[4] != "jobs" ||
		!projectPattern.MatchString(parts[1]) || parts[3] == "" || !jobPattern.MatchString(parts[5]) {
		return jobName{}, status.Errorf(codes.InvalidArgument,
			`Job name %q must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/jobs/<JOB_ID>", `+
				`where <JOB_ID> matches [A-Za-z0-9_-]{1,500}.`, name)
	}

	return jobName{project: parts[1], location: parts[3], job: parts[5]}, nil
}

// parseParent accepts projects/P/locations/L of a location that there is. Like the real server it does not tell a location that does
// not exist from one that the caller may not use.
func parseParent(parent, permission string) (jobName, error) {
	parts := strings.Split(parent, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[2] != "locations" || !projectPattern.MatchString(parts[1]) {
		return jobName{}, status.Errorf(codes.InvalidArgument,
			`Parent %q must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>".`, parent)
	}

	if !slices.Contains(locationIDs(), parts[3]) {
		return jobName{}, status.Error(codes.PermissionDenied, lacksPermission(permission, parent))
	}

	return jobName{project: parts[1], location: parts[3]}, nil
}

func lacksPermission(permission, resource string) string {
	return fmt.Sprintf("The principal (user or service account) lacks IAM permission %q for the resource %q (or the resource may not exist).",
		permission, resource)
}
