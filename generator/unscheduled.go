package generator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// noJobs refuses jobs for kinds that are called by others than Cloud Scheduler.
func noJobs(spec Spec, k kind) []*SpecError {
	if len(spec.Jobs) == 0 {
		return nil
	}
	return []*SpecError{{Field: "jobs", Reason: "kind " + k.name + " serves no jobs: leave them out"}}
}

// onlyPolicy refuses the settings of a policy that a kind has no use for.
func onlyPolicy(p run.Policy, k kind, taken ...string) []*SpecError {
	var errs []*SpecError
	for pair := range strings.SplitSeq(p.Encode(), ";") {
		key, _, _ := strings.Cut(pair, "=")
		if key != "v" && !slices.Contains(taken, key) {
			errs = append(errs, &SpecError{Field: "policy." + key, Reason: "kind " + k.name + " has no use for it: it takes " + strings.Join(taken, ", ")})
		}
	}
	return errs
}

// goDuration writes a duration as people do in Go.
func goDuration(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}} {
		switch {
		case d == unit.length:
			return unit.name
		case d%unit.length == 0:
			return fmt.Sprintf("%d * %s", d/unit.length, unit.name)
		}
	}
	return fmt.Sprintf("%d * time.Nanosecond", d)
}

// usesTime reports whether one of the lines of Go needs package time.
func usesTime(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "time.") })
}

// secretName is the name of a secret that holds a variable of a service: my-service-webhook-secret.
func secretName(service, variable string) string {
	if slices.ContainsFunc(Stores(), func(s Store) bool { return s.Password == variable }) {
		return service + "-store-password"
	}
	return service + "-" + strings.ToLower(strings.ReplaceAll(variable, "_", "-"))
}
