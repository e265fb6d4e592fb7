package scheduled

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// headers are the values of the headers that matter, each found whatever its case.
type headers struct {
	scheduler, job, time, project, region, policy, clock []string
}

// headerNames are the names of these headers, in their order, as net/http spells them: so almost every one is found at once.
var headerNames = [...]string{
	http.CanonicalHeaderKey(run.HeaderScheduler), http.CanonicalHeaderKey(run.HeaderJobName), http.CanonicalHeaderKey(run.HeaderScheduleTime),
	http.CanonicalHeaderKey(run.HeaderProject), http.CanonicalHeaderKey(run.HeaderRegion), http.CanonicalHeaderKey(run.HeaderPolicy),
	http.CanonicalHeaderKey(run.HeaderClock),
}

func readHeaders(h http.Header) headers {
	var found headers
	into := [...]*[]string{
		&found.scheduler, &found.job, &found.time, &found.project, &found.region, &found.policy, &found.clock,
	}
	for key, values := range h {
		for i, name := range headerNames {
			if len(key) != len(name) || key != name && !strings.EqualFold(key, name) {
				continue
			}
			if len(*into[i]) == 0 {
				*into[i] = values
			} else {
				*into[i] = slices.Concat(*into[i], values)
			}
			break
		}
	}
	return found
}

// one returns the only value of a header. Empty: the header is not there, or is empty.
func one(name string, values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	default:
		return "", bad(fmt.Sprintf("header %s is there %d times", name, len(values)), "send it once")
	}
}

const fromScheduler = "call this handler by a Cloud Scheduler job, which sets it"

func (h headers) readScheduler() error {
	value, err := one(run.HeaderScheduler, h.scheduler)
	switch {
	case err != nil:
		return err
	case value == "":
		return bad("header "+run.HeaderScheduler+" is missing", fromScheduler)
	case value != "true":
		return bad(fmt.Sprintf("header %s is %s, not true", run.HeaderScheduler, quote(value)), fromScheduler)
	}
	return nil
}

func (h headers) readJob() (string, error) {
	value, err := one(run.HeaderJobName, h.job)
	if err != nil {
		return "", err
	}
	if value == "" {
		return "", bad("header "+run.HeaderJobName+" is missing", fromScheduler)
	}
	if err := run.CheckJob(value); err != nil {
		return "", bad("header "+run.HeaderJobName+": "+err.Error(), "send the job's short id")
	}
	return value, nil
}

// readTime returns the schedule time and how it was spelled. Zero: there is none.
func (h headers) readTime() (time.Time, string, error) {
	value, err := one(run.HeaderScheduleTime, h.time)
	if err != nil || value == "" {
		return time.Time{}, "", err
	}
	at, err := parseTime(run.HeaderScheduleTime, value)
	return at, value, err
}

// readClock returns the moved clock of a local cloud. Nil: there is none, or it does not count.
func (h headers) readClock(believe bool, r *http.Request) (*time.Time, error) {
	if !believe || len(h.clock) == 0 || !caller.Loopback(r) {
		return nil, nil
	}
	value, err := one(run.HeaderClock, h.clock)
	if err != nil {
		return nil, err
	}
	clock, err := parseTime(run.HeaderClock, value)
	return &clock, err
}

func parseTime(name, value string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, value)
	// The zero time stands for none, and must not come in as one.
	if err != nil || strings.Contains(value, ",") || t.IsZero() || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}, bad(fmt.Sprintf("header %s is %s, not a time in RFC 3339", name, quote(value)),
			"send it like 2026-10-16T12:00:00Z or 2026-10-16T05:00:00-07:00")
	}
	return t, nil
}

// quote bounds what of a refused value is repeated.
func quote(s string) string {
	const longest = 100
	if len(s) > longest {
		return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:longest], ""), len(s))
	}
	return fmt.Sprintf("%q", s)
}
