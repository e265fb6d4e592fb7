package google

import (
	"time"
)

// Settings is the provider block with its environment fall-backs applied.
type Settings struct {
	Project, Region     string        // "": each resource names its own
	Credentials         string        // JSON, or the path of a file that holds it; "": application default credentials
	AccessToken         string        // used as it is; wins over Credentials
	Impersonate         string        // e-mail of a service account; "": nobody
	Delegates           []string      // the chain that leads to Impersonate
	Scopes              []string      // empty: cloud-platform
	BillingProject      string        // the project that quota is taken from; "": see UserProjectOverride
	UserProjectOverride bool          // take quota from BillingProject, else from Project
	UniverseDomain      string        // "": googleapis.com
	SchedulerEndpoint   string        // "": the public one
	FirestoreEndpoint   string        // "": the public one
	RequestTimeout      time.Duration // of one request, retries apart; 0: two minutes
	UserAgent           string
}

const (
	cloudPlatform         = "https://www.googleapis.com/auth/cloud-platform"
	defaultRequestTimeout = 2 * time.Minute
)

// Timeout is how long one request may take.
func (s Settings) Timeout() time.Duration {
	if s.RequestTimeout > 0 {
		return s.RequestTimeout
	}
	return defaultRequestTimeout
}

// quotaProject is the project that pays for requests, "" for the one of the credentials.
func (s Settings) quotaProject() string {
	switch {
	case !s.UserProjectOverride:
		return ""
	case s.BillingProject != "":
		return s.BillingProject
	default:
		return s.Project
	}
}

func (s Settings) scopes() []string {
	if len(s.Scopes) > 0 {
		return s.Scopes
	}
	return []string{cloudPlatform}
}
