package caller

import (
	"net/http"
	"strings"
)

// Caller is who sent a request.
type Caller struct {
	// Email is the address of the calling account. Empty: the way of checking tells none.
	Email string
	// Subject is the stable id of the account. Empty: the way of checking tells none.
	Subject string
	// ProjectFromEmail is the project that the caller's service account lives in, or, on App Engine, the application's own. Empty:
	// unknown, as for an address that is not of the form NAME@PROJECT.iam.gserviceaccount.com.
	ProjectFromEmail string
	// Verified says that someone who can be trusted with it has checked who is calling. Only Insecure leaves it false.
	Verified bool
}

// Checker finds out who sent a request. It refuses with an [*Error].
type Checker interface {
	Check(r *http.Request) (Caller, error)
}

// Error says why a request was refused.
type Error struct {
	// Status is the HTTP status to answer with: 401 no or bad token, 403 a caller that is not allowed, 500 nobody could tell.
	Status int
	// Reason says what is wrong; it never holds a token.
	Reason string
	// Remedy says what mends it.
	Remedy string
	// Err is the cause. Nil: there is no other than Reason.
	Err error
}

// Error returns the reason and the remedy.
func (e *Error) Error() string { return e.Reason + ": " + e.Remedy }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const serviceAccountDomain = ".iam.gserviceaccount.com"

// ProjectOf returns the project of a service account's address NAME@PROJECT.iam.gserviceaccount.com, and whether the address has
// that form. The project example.com:proj is written proj.example.com there.
func ProjectOf(email string) (string, bool) {
	name, domain, found := strings.Cut(email, "@")
	project, ours := strings.CutSuffix(domain, serviceAccountDomain)
	if !found || !ours || name == "" || project == "" || strings.HasPrefix(project, ".") || strings.HasSuffix(project, ".") {
		return "", false
	}
	if short, scope, scoped := strings.Cut(project, "."); scoped {
		return scope + ":" + short, true
	}
	return project, true
}

// ServiceAccountsOf returns the entry of a list of callers that allows all service accounts of a project.
func ServiceAccountsOf(project string) string {
	if scope, short, scoped := strings.Cut(project, ":"); scoped {
		project = short + "." + scope
	}
	return "*@" + project + serviceAccountDomain
}
