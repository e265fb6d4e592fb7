package generator

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// Webhook says what a handler of kind webhook receives. The zero value is right for most.
type Webhook struct {
	// Source names the sender and its endpoint, in the identity of each event: keep it as long as the sender may retry. Empty: the
	// handler's name.
	Source string
	// Events are the types of events, as the field type of the payload has them, each with a function of its own; events of other
	// types go to a function for those. Empty: one function for all.
	Events []string
	// Secrets are the names of environment variables that hold the sender's keys, whsec_… or whpk_…: several while a key is replaced.
	// Empty: WEBHOOK_SECRET.
	Secrets []string
	// RetryHorizon is for how long after its first delivery the sender may repeat an event. Zero: the library's default, 76 h.
	RetryHorizon time.Duration
	// Tolerance is how far the time of a delivery may be from the clock. Zero: the library's default, 5 min.
	Tolerance time.Duration
	// OnConflict says what becomes of a delivery that has the id of another event with another body: flag (2xx, logged and counted),
	// 409 or 422. Empty: flag.
	OnConflict string
}

// DefaultSecret is the environment variable of the sender's key when a spec names none.
const DefaultSecret = "WEBHOOK_SECRET"

// receiving is a webhook as templates see it.
type receiving struct {
	Source  string
	Secrets []string
	// Others says that there are types with functions of their own, so that others need one too.
	Others bool
	// Verifier, Receiver and Worker are lines of Go literals: what differs from the library's defaults.
	Verifier, Receiver, Worker []string
	// RetryHorizon, Timeout, Lease and MaxAttempts are what holds in the end.
	RetryHorizon, Timeout, Lease time.Duration
	MaxAttempts                  int
	// DrainFor is how long, as Go has it, a call of the drain takes events: with the last of them it ends within the deadline.
	DrainFor string
}

var (
	sentName       = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,200}$`) // of a source or of a type of events
	secretVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
)

const (
	longestHorizon   = 366 * 24 * time.Hour
	longestTolerance = 24 * time.Hour
)

// received judges the part of a spec that only kind webhook has, and names its events like jobs.
func received(spec Spec, k kind, store Store) (*receiving, []job, []*SpecError) {
	if k.answers != events {
		if spec.Webhook != nil && k.name != "" {
			return nil, nil, []*SpecError{{Field: "webhook", Reason: "kind " + k.name + " receives none: choose kind webhook, or leave it out"}}
		}
		return nil, nil, nil
	}
	w := spec.Webhook
	if w == nil {
		w = &Webhook{}
	}
	errs := slices.Concat(noJobs(spec, k), onlyPolicy(spec.Policy, k, "deadline", "timeout", "lease", "renew", "retention", "max_attempts"), w.check(),
		w.checkTimes(spec.Policy))
	if store.Name != "" && store.Inbox == "" {
		errs = append(errs, &SpecError{Field: "store", Reason: store.Title + " cannot keep events until they are done: choose one of " + inboxNames()})
	}
	jobs, jobErrs := w.name()
	r := &receiving{
		Source: cmp.Or(w.Source, spec.Name), Secrets: w.Secrets, Others: len(w.Events) > 0,
		RetryHorizon: cmp.Or(w.RetryHorizon, webhook.DefaultRetryHorizon), Timeout: cmp.Or(spec.Policy.Timeout, webhook.DefaultTimeout),
	}
	if len(r.Secrets) == 0 {
		r.Secrets = []string{DefaultSecret}
	}
	r.Lease = cmp.Or(spec.Policy.Lease, claim.DefaultLease(r.Timeout, 0, spec.Policy.Renew))
	r.MaxAttempts = cmp.Or(spec.Policy.MaxAttempts, webhook.DefaultMaxAttempts)
	deadline := cmp.Or(spec.Policy.Deadline, defaultDeadline)
	r.DrainFor = goDuration(max(deadline-r.Timeout, deadline/3).Truncate(time.Second))
	r.literals(*w, spec.Policy)
	return r, jobs, append(errs, jobErrs...)
}

func (w Webhook) check() []*SpecError {
	var errs []*SpecError
	refuse := func(bad bool, field, value, reason string) {
		if bad {
			errs = append(errs, &SpecError{Field: "webhook." + field, Value: value, Reason: reason})
		}
	}
	refuse(w.Source != "" && !sentName.MatchString(w.Source), "source", w.Source, "it must match "+trimAnchors(sentName))
	for i, name := range w.Secrets {
		field := fmt.Sprintf("secrets[%d]", i)
		if strings.HasPrefix(name, "whsec_") || strings.HasPrefix(name, "whpk_") || strings.HasPrefix(name, "whsk_") {
			refuse(true, field, "", "it looks like a key itself: name the environment variable that holds it")
			continue
		}
		refuse(!secretVariable.MatchString(name), field, "", "it must be the name of an environment variable, "+trimAnchors(secretVariable))
		refuse(slices.Contains(w.Secrets[:i], name), field, name, "it is listed twice")
		refuse(reservedVariable(name), field, name, "the handler reads something else from it")
	}
	refuse(!slices.Contains([]string{"", "flag", "409", "422"}, w.OnConflict), "on_conflict", w.OnConflict, "it must be flag, 409 or 422")
	refuse(w.Tolerance < 0 || w.Tolerance > longestTolerance, "tolerance", w.Tolerance.String(),
		fmt.Sprintf("it must be a positive duration of %v at most", longestTolerance))
	refuse(w.RetryHorizon < 0 || w.RetryHorizon > longestHorizon, "retry_horizon", w.RetryHorizon.String(),
		fmt.Sprintf("it must be a positive duration of %v at most", longestHorizon))
	return errs
}

func reservedVariable(name string) bool {
	return strings.HasPrefix(name, "IDEMPOTENT_") || name == run.EnvPort || slices.ContainsFunc(Stores(), func(s Store) bool { return s.Password == name })
}

// checkTimes holds retention and lease to what the library will ask for.
func (w Webhook) checkTimes(p run.Policy) []*SpecError {
	var errs []*SpecError
	if least := claim.MinRetention(cmp.Or(w.RetryHorizon, webhook.DefaultRetryHorizon), 0); p.Retention != 0 && p.Retention < least {
		errs = append(errs, &SpecError{
			Field: "policy.retention", Value: p.Retention.String(),
			Reason: fmt.Sprintf("an event that is forgotten while its sender retries would be done twice: at least %v", least),
		})
	}
	if timeout := cmp.Or(p.Timeout, webhook.DefaultTimeout); p.Lease != 0 && !p.Renew && p.Lease <= timeout {
		errs = append(errs, &SpecError{
			Field: "policy.lease", Value: p.Lease.String(), Reason: fmt.Sprintf("it must be longer than the timeout, %v, or be renewed", timeout),
		})
	}
	return errs
}

// name gives each type of event a method and a file, by the rules for jobs.
func (w Webhook) name() ([]job, []*SpecError) {
	named, errs := nameAll(w.Events, naming{
		field: "webhook.events", ending: "_event",
		check: func(name string) string {
			if !sentName.MatchString(name) {
				return "it must match " + trimAnchors(sentName)
			}
			return ""
		},
		taken: map[string]string{"Other": "the events of all other types"},
	})
	if len(w.Events) == 0 {
		return []job{{Method: "Work", File: "event", Own: true}}, errs
	}
	return append(named, job{Method: "Other", File: "event", Own: true}), errs
}

func (r *receiving) literals(w Webhook, p run.Policy) {
	set := func(lines *[]string, given bool, format string, args ...any) {
		if given {
			*lines = append(*lines, fmt.Sprintf(format, args...))
		}
	}
	set(&r.Verifier, w.Tolerance != 0, "Tolerance: %s,", goDuration(w.Tolerance))
	set(&r.Receiver, w.OnConflict == "409", "ConflictStatus: %d,", http.StatusConflict)
	set(&r.Receiver, w.OnConflict == "422", "ConflictStatus: %d,", http.StatusUnprocessableEntity)
	for _, lines := range []*[]string{&r.Receiver, &r.Worker} {
		set(lines, w.RetryHorizon != 0, "RetryHorizon: %s,", goDuration(w.RetryHorizon))
		set(lines, p.Retention != 0, "Retention: %s,", goDuration(p.Retention))
	}
	set(&r.Worker, p.Timeout != 0, "Timeout: %s,", goDuration(p.Timeout))
	set(&r.Worker, p.Lease != 0, "Lease: %s,", goDuration(p.Lease))
	set(&r.Worker, p.Renew, "Renew: true,")
	set(&r.Worker, p.MaxAttempts != 0, "MaxAttempts: %d,", p.MaxAttempts)
}

func inboxNames() string {
	var names []string
	for _, s := range Stores() {
		if s.Inbox != "" {
			names = append(names, s.Schemes()...)
		}
	}
	return strings.Join(names, ", ")
}
