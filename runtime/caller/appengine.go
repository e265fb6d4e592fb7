package caller

import (
	"errors"
	"net/http"
	"os"
)

// AppEngineConfig says where [AppEngine] reads its surroundings.
type AppEngineConfig struct {
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
}

// AppEngine returns a checker for an App Engine service. App Engine strips X-Appengine-… headers from outside requests, so one that
// is there was set by Cloud Scheduler, Cloud Tasks or Cron of the same application. Outside App Engine it is an error.
func AppEngine(cfg AppEngineConfig) (Checker, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	if cfg.Getenv("GAE_ENV") != "standard" || cfg.Getenv("GAE_SERVICE") == "" {
		return nil, errors.New("this is not App Engine standard, where GAE_ENV is standard and GAE_SERVICE is set: nobody strips forged " +
			"headers here; verify tokens instead")
	}
	return appEngine{project: cfg.Getenv("GOOGLE_CLOUD_PROJECT")}, nil
}

type appEngine struct{ project string }

// Check looks for a header that only App Engine can have set.
func (a appEngine) Check(r *http.Request) (Caller, error) {
	if r.Header.Get("X-Appengine-Cron") == "true" || r.Header.Get("X-Appengine-Queuename") != "" {
		return Caller{ProjectFromEmail: a.project, Verified: true}, nil
	}
	return Caller{}, &Error{
		Status: http.StatusForbidden, Reason: "the request does not come from Cloud Scheduler through App Engine",
		Remedy: "call through a job with an app_engine_http_target",
	}
}
