package scheduled

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/serving"
)

// FromEnv reads everything but Store and work from the environment: package run names the variables. The error says everything that
// is wrong at once, each with the variable and what mends it.
func FromEnv(getenv func(string) string) (Config, error) {
	e := &environment{getenv: getenv}
	cfg := Config{
		Project:        e.text(run.EnvProject, run.CheckProject),
		Region:         e.text(run.EnvRegion, run.CheckRegion),
		RequestTimeout: e.duration(run.EnvRequestTimeout, longestRequest),
		ShutdownGrace:  e.duration(run.EnvShutdownGrace, longestGrace),
		LocalCloud:     e.boolean(run.EnvLocalCloud),
	}
	cfg.Previous, cfg.NeedsPreviousStore = e.previous()
	if cfg.ShutdownGrace == 0 {
		cfg.ShutdownGrace = DefaultShutdownGrace
	}
	if _, err := serving.Port(e.getenv); err != nil {
		e.problems = append(e.problems, err)
	}
	cfg.Caller = e.caller(cfg.Project)
	cfg.Logger = NewLogger(os.Stderr, cmp.Or(getenv("GOOGLE_CLOUD_PROJECT"), cfg.Project))
	if err := errors.Join(e.problems...); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

const (
	// longestRequest is App Engine's, the longest of all platforms.
	longestRequest = 24*time.Hour + 15*time.Second
	longestGrace   = time.Hour
)

// environment reads variables and gathers what is wrong with them.
type environment struct {
	getenv   func(string) string
	problems []error
}

func (e *environment) get(name string) string { return strings.TrimSpace(e.getenv(name)) }

func (e *environment) wrongf(name, format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf("environment variable "+name+" "+format, args...))
}

func (e *environment) text(name string, check func(string) error) string {
	value := e.get(name)
	if value == "" {
		return ""
	}
	if refused, ok := errors.AsType[*run.NameError](check(value)); ok {
		e.wrongf(name, "is %s: set it to a text that matches %s", quote(value), refused.Allowed)
	}
	return value
}

func (e *environment) duration(name string, longest time.Duration) time.Duration {
	value := e.get(name)
	if value == "" {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > longest {
		e.wrongf(name, "is %s: set it to a duration such as 300s, above zero and at most %v", quote(value), longest)
	}
	return d
}

func (e *environment) boolean(name string) bool {
	value := e.get(name)
	switch strings.ToLower(value) {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	}
	e.wrongf(name, "is %s: set it to true or false", quote(value))
	return false
}

// previous reads how runs were named before, and whether another store held them. The URL of that store is not looked at: it may hold
// a password, and only who opens it knows what it may be.
func (e *environment) previous() (all []run.Previous, otherStore bool) {
	all, err := run.ParsePrevious(e.get(run.EnvPrevious))
	otherStore = e.get(run.EnvPreviousStore) != ""
	switch {
	case err != nil:
		e.wrongf(run.EnvPrevious, "cannot be read: %w", err)
	case otherStore && len(all) == 0:
		e.wrongf(run.EnvPrevious, "is not set beside %s: set it to the time until which that store counts, such as until=2027-01-31T00:00:00Z",
			run.EnvPreviousStore)
	}
	return all, otherStore
}

func (e *environment) list(name string) []string {
	value := e.get(name)
	if value == "" {
		return nil
	}
	entries := strings.Split(value, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
		if entries[i] == "" {
			e.wrongf(name, "has an empty entry: separate the entries by single commas")
			return nil
		}
	}
	return entries
}

// caller makes the checker. Unset is the strictest.
func (e *environment) caller(project string) caller.Checker {
	var checker caller.Checker
	var err error
	switch mode := e.get(run.EnvCaller); mode {
	case "", "verify":
		return e.verify(project)
	case "cloud_run_iam":
		allowed := e.callers(project)
		if allowed == nil {
			return nil
		}
		checker, err = caller.CloudRunIAM(caller.CloudRunConfig{Callers: allowed, Getenv: e.getenv})
	case "app_engine":
		checker, err = caller.AppEngine(caller.AppEngineConfig{Getenv: e.getenv})
	case "insecure":
		checker, err = caller.Insecure(caller.InsecureConfig{Getenv: e.getenv})
	default:
		e.wrongf(run.EnvCaller, "is %s: set it to verify, cloud_run_iam, app_engine or insecure", quote(mode))
	}
	if err != nil {
		e.wrongf(run.EnvCaller, "cannot be %s: %w", e.get(run.EnvCaller), err)
	}
	return checker
}

func (e *environment) verify(project string) caller.Checker {
	before := len(e.problems)
	cfg := caller.VerifyConfig{
		Audiences: e.list(run.EnvAudiences), Callers: e.callers(project), Issuer: e.get(run.EnvIssuer), JWKSURL: e.get(run.EnvJWKS),
	}
	if len(cfg.Audiences) == 0 && e.get(run.EnvAudiences) == "" {
		e.wrongf(run.EnvAudiences, "is not set: set it to the audience of the job's oidc_token, such as the service's URL; several are separated by commas")
	}
	if cfg.Issuer != "" && !isURL(cfg.Issuer) {
		e.wrongf(run.EnvIssuer, "is %s: set it to the https URL that the tokens name as their issuer, or leave it out for Google", quote(cfg.Issuer))
	} else if cfg.Issuer != "" && cfg.JWKSURL == "" {
		e.wrongf(run.EnvJWKS, "is not set: set it to the URL of the keys of the issuer in %s", run.EnvIssuer)
	}
	if cfg.JWKSURL != "" {
		if err := caller.CheckKeysURL(cfg.JWKSURL); err != nil {
			e.wrongf(run.EnvJWKS, "cannot be used: %w", err)
		}
	}
	if len(e.problems) > before {
		return nil
	}
	checker, err := caller.Verify(cfg)
	if err != nil {
		e.wrongf(run.EnvCaller, "cannot be verify: %w", err)
	}
	return checker
}

// callers is the list of who may call; where it is not set, the service accounts of the handler's own project. Nil: there is none, and
// a problem is noted.
func (e *environment) callers(project string) []string {
	if e.get(run.EnvCallers) == "" && project != "" {
		return []string{caller.ServiceAccountsOf(project)}
	}
	if e.get(run.EnvCallers) == "" {
		e.wrongf(run.EnvCallers, "is not set: set it to the addresses of the service accounts that may call, separated by commas, or set %s "+
			"to allow those of one project", run.EnvProject)
		return nil
	}
	entries := e.list(run.EnvCallers)
	for _, entry := range entries {
		if err := caller.CheckEntry(entry); err != nil {
			e.wrongf(run.EnvCallers, "cannot be used: %w", err)
			return nil
		}
	}
	return entries
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
