package run_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestPreviousReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	until := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for want, all := range map[string][]run.Previous{
		"":                           nil,
		"until=2027-01-31T00:00:00Z": {{Until: until}},
		"until=2027-01-31T00:00:00Z;format=sample": {{Until: until, Format: run.FormatSample}},
		"job=nightly;until=2027-01-31T00:00:00Z;forced=skip_next;scope=eu,until=2027-01-31T00:00:00Z;forced=reject": {
			{Job: "nightly", Until: until, Forced: run.ForcedSkipNext, Scope: "eu"}, {Until: until, Forced: run.ForcedReject},
		},
	} {
		if got := run.EncodePrevious(all); got != want {
			t.Errorf("EncodePrevious = %q; want %q", got, want)
		}
		if got, err := run.ParsePrevious(want); err != nil || !slices.Equal(got, all) {
			t.Errorf("ParsePrevious(%q) = %+v, %v; want %+v", want, got, err, all)
		}
	}
	if got, err := run.ParsePrevious("until=2027-01-31T02:00:00+02:00"); err != nil || !slices.Equal(got, []run.Previous{{Until: until}}) {
		t.Errorf("a time with a zone reads as %+v, %v", got, err)
	}
}

func TestPreviousRefusesWhatNamesNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"format=sample":      `policy key "until" is missing: give the time from which no run under the previous name is delivered`,
		"until=tomorrow":     `policy key "until" with value "tomorrow" is not a time such as 2027-01-31T00:00:00Z`,
		"until":              `policy key "until" is not of the form key=value`,
		"job=a/b;until=2027": `policy key "job" with value "a/b" does not match [A-Za-z0-9_-]{1,500}`,
		"until=2027-01-31T00:00:00Z,until=2027-01-31T00:00:00Z": `policy key "job" is there twice: a run has one previous name`,
		"until=2027-01-31T00:00:00Z;lease=5s":                   `policy key "lease" is unknown: a previous name has job, until, format, scope and forced`,
		"until=2027-01-31T00:00:00Z;format=v3":                  `policy key "format" with value "v3" is neither v1 nor sample`,
		"until=2027-01-31T00:00:00Z;until=2028-01-31T00:00:00Z": `policy key "until" is given twice`,
		"until=2027-01-31T00:00:00Z;format=sample;scope=a":      `policy key "scope" with value "a" cannot be combined with format=sample, whose names have no place for it`,
		"until=2027-01-31T00:00:00Z,":                           `policy key "" is not of the form key=value`,
	} {
		_, err := run.ParsePrevious(text)
		var refused *run.PolicyError
		if !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("ParsePrevious(%q) says %v; want %s", text, err, want)
		}
	}
}

func TestPreviousNames(t *testing.T) {
	t.Parallel()
	now := run.Identity{
		Project: "p", Region: "r", Job: "j", Scope: "new", ScheduleTime: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), Forced: true,
	}
	for name, tt := range map[string]struct {
		previous run.Previous
		forced   bool
		want     string // empty: none
	}{
		"default, scheduled": {run.Previous{}, false, "projects/p/locations/r/jobs/j/runs/2027-01-31T00:00:00Z"},
		"default, forced":    {run.Previous{}, true, "projects/p/locations/r/jobs/j/forced/2027-01-31T00:00:00Z"},
		"skip_next, forced":  {run.Previous{Forced: run.ForcedSkipNext}, true, "projects/p/locations/r/jobs/j/runs/2027-01-31T00:00:00Z"},
		"reject, scheduled":  {run.Previous{Forced: run.ForcedReject}, false, "projects/p/locations/r/jobs/j/runs/2027-01-31T00:00:00Z"},
		"reject, forced":     {run.Previous{Forced: run.ForcedReject}, true, ""},
		"scope":              {run.Previous{Scope: "old"}, false, "scopes/old/runs/2027-01-31T00:00:00Z"},
		"sample, forced":     {run.Previous{Format: run.FormatSample}, true, "j/2027-01-31T00:00:00Z"},
	} {
		identity, named := tt.previous.Names(now, tt.forced)
		if named != (tt.want != "") {
			t.Errorf("%s: named %v", name, named)
		}
		if !named {
			continue
		}
		if got, err := identity.Name(); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
}
