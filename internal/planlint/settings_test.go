package planlint_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

func TestSettingsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":     {"rule:\n  no-retry: note\n", "unknown field"},
		"no YAML":         {"rules: [", "s.yaml"},
		"unknown rule":    {"rules:\n  no-retri: note\n", `there is no rule "no-retri": did you mean no-retry?`},
		"unknown level":   {"rules:\n  no-retry: info\n", `"info" is no level`},
		"no reason":       {"suppressions:\n  - rule: no-retry\n    address: a.b\n", "suppressions[0]: the reason is missing"},
		"empty reason":    {"suppressions:\n  - rule: no-retry\n    address: a.b\n    reason: ' '\n", "the reason is missing"},
		"no address":      {"suppressions:\n  - rule: no-retry\n    reason: x\n", "the address is missing"},
		"unreadable date": {"suppressions:\n  - rule: no-retry\n    address: a.b\n    reason: x\n    until: soon\n", `until "soon" is no date`},
		"rule not given":  {"suppressions:\n  - address: a.b\n    reason: x\n", `there is no rule ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := planlint.ParseSettings("s.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s.yaml") {
				t.Errorf("error is %v, want one of s.yaml with %q", err, c.want)
			}
		})
	}
}

func TestEmptySettingsChangeNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "rules: {}\n"} {
		if _, err := planlint.ParseSettings("s.yaml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSuppressionCountsUntilTheEndOfItsLastDay(t *testing.T) {
	t.Parallel()
	const text = "suppressions:\n  - rule: no-authentication\n    address: google_cloud_scheduler_job.open\n    reason: x\n    until: 2026-11-30\n"
	settings, err := planlint.ParseSettings("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now    time.Time
		hidden bool
	}{
		{time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC), true},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), false},
	} {
		result := checkConfig(t, openJob, planlint.Options{Now: c.now, Settings: settings})
		if got := len(result.Suppressed) == 1; got != c.hidden {
			t.Errorf("at %s hidden is %v, want %v:\n%s", c.now, got, c.hidden, lines(result))
		}
		if expired := strings.Contains(lines(result), "suppression-expired"); expired == c.hidden {
			t.Errorf("at %s expired is %v", c.now, expired)
		}
	}
}

func TestSuppressionIsReportedAtItsLine(t *testing.T) {
	t.Parallel()
	const text = "rules:\n  no-retry: note\nsuppressions:\n  - rule: no-retry\n    address: a.b\n    reason: x\n"
	settings, err := planlint.ParseSettings("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkConfig(t, openJob, planlint.Options{Settings: settings}).Findings {
		if f.Rule == "suppression-unused" {
			if want := (planlint.Position{File: "s.yaml", Line: 4}); f.Position != want {
				t.Errorf("position is %v, want %v", f.Position, want)
			}
			return
		}
	}
	t.Error("the unused suppression is not found")
}
