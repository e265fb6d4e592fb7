package caller

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// callers is a list of the accounts that may call.
type callers struct {
	emails   map[string]bool
	projects map[string]bool
}

var errNoCallers = errors.New("callers is empty: list the service accounts that may call, since a token for the right audience can " +
	"be had by anybody")

// newCallers reads entries of the forms address and *@PROJECT.iam.gserviceaccount.com.
func newCallers(entries []string) (callers, error) {
	c := callers{emails: map[string]bool{}, projects: map[string]bool{}}
	if len(entries) == 0 {
		return c, errNoCallers
	}
	for _, entry := range entries {
		if err := CheckEntry(entry); err != nil {
			return c, err
		}
		if strings.HasPrefix(entry, "*@") {
			project, _ := ProjectOf(entry)
			c.projects[project] = true
			continue
		}
		c.emails[strings.ToLower(entry)] = true
	}
	return c, nil
}

// CheckEntry returns an error unless the text can stand in a list of callers: the address of an account, or
// *@PROJECT.iam.gserviceaccount.com for all service accounts of a project.
func CheckEntry(entry string) error {
	name, domain, found := strings.Cut(entry, "@")
	switch {
	case !found || name == "" || domain == "" || strings.ContainsAny(entry, " \t\r\n,;<>\"") || strings.Contains(domain, "@"):
		return fmt.Errorf("%q is not the address of an account: write it like NAME@PROJECT%s", entry, serviceAccountDomain)
	case strings.Contains(domain, "*") || strings.Contains(name, "*") && name != "*":
		return fmt.Errorf("%q has a * in the wrong place: only *@PROJECT%s is allowed", entry, serviceAccountDomain)
	}
	if _, ours := ProjectOf(entry); name == "*" && !ours {
		return fmt.Errorf("%q would allow accounts that are not one project's: only *@PROJECT%s is allowed", entry, serviceAccountDomain)
	}
	return nil
}

// admit turns the claims of a token that is good in itself into a caller, if that caller may call.
func (c callers) admit(t claims) (Caller, error) {
	const listIt = "add the job's service account to the handler's list of callers"
	if t.Email == "" {
		return Caller{}, &Error{
			Status: http.StatusForbidden, Reason: "the token names no email address",
			Remedy: "call with the OIDC token of a service account, as Cloud Scheduler's oidc_token makes it",
		}
	}
	if !bool(t.EmailVerified) {
		return Caller{}, &Error{
			Status: http.StatusForbidden, Reason: fmt.Sprintf("the email address %q of the token is not verified", t.Email),
			Remedy: "call with the OIDC token of a service account",
		}
	}
	project, _ := ProjectOf(t.Email)
	if !c.emails[strings.ToLower(t.Email)] && (project == "" || !c.projects[project]) {
		return Caller{}, &Error{
			Status: http.StatusForbidden, Reason: fmt.Sprintf("caller %q is not allowed", t.Email), Remedy: listIt,
		}
	}
	return Caller{Email: t.Email, Subject: t.Subject, ProjectFromEmail: project, Verified: true}, nil
}
