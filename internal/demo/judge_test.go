package demo_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/demo"
)

var start = time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)

// delivery lasts from second to second after start.
func delivery(from, to int, outcome, fault string) demo.DeliverySeen {
	return demo.DeliverySeen{
		Started: start.Add(time.Duration(from) * time.Second), Ended: start.Add(time.Duration(to) * time.Second),
		Outcome: outcome, Fault: fault,
	}
}

func asItMustBe() demo.Evidence {
	run := func(s demo.Scenario, name string, attempts int, d ...demo.DeliverySeen) demo.RunSeen {
		return demo.RunSeen{Scenario: s, Name: "projects/p/locations/r/jobs/" + name, Attempts: attempts, Status: "completed", Effects: 1, Deliveries: d}
	}
	forced := run(demo.Forced, "forced/forced/t", 1, delivery(0, 1, "executed", ""))
	forced.Forced = true

	return demo.Evidence{
		KilledPID: 42, WrongAudience: 401,
		Runs: []demo.RunSeen{
			run(demo.LostReply, "lost-reply/runs/t", 1, delivery(0, 1, "executed", "lost reply"), delivery(5, 6, "duplicate", "")),
			run(demo.Duplicates, "duplicates/runs/t", 1,
				delivery(0, 3, "executed", ""), delivery(0, 1, "in_progress", "duplicate"), delivery(1, 2, "in_progress", "duplicate"),
				delivery(1, 2, "in_progress", "duplicate"), delivery(2, 3, "in_progress", "duplicate")),
			run(demo.Killed, "killed/runs/t", 2, delivery(0, 1, "-", ""), delivery(5, 5, "in_progress", ""), delivery(40, 45, "executed", "")),
			forced,
			run(demo.Forced, "forced/runs/t", 1, delivery(60, 61, "executed", "")),
		},
	}
}

func TestJudgeAcceptsWhatIsAsItMustBe(t *testing.T) {
	t.Parallel()

	if faults := demo.Judge(asItMustBe()); len(faults) != 0 {
		t.Errorf("faults: %q", faults)
	}
}

func TestJudgeFindsEachFault(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		spoil func(*demo.Evidence)
		want  string
	}{
		"a second effect":         {func(e *demo.Evidence) { e.Runs[0].Effects = 2 }, "has 2 effects, not one"},
		"no effect":               {func(e *demo.Evidence) { e.Runs[4].Effects = 0 }, "has 0 effects, not one"},
		"not completed":           {func(e *demo.Evidence) { e.Runs[2].Status = "in_progress" }, `is "in_progress" in the claim store`},
		"no reply was lost":       {func(e *demo.Evidence) { e.Runs[0].Deliveries[0].Fault = "" }, "(a) lost reply: answers"},
		"no retry":                {func(e *demo.Evidence) { e.Runs[0].Deliveries = e.Runs[0].Deliveries[:1] }, "(a) lost reply: answers"},
		"a scenario is missing":   {func(e *demo.Evidence) { e.Runs = e.Runs[1:] }, "(a) lost reply: 0 runs"},
		"four duplicates":         {func(e *demo.Evidence) { e.Runs[1].Deliveries = e.Runs[1].Deliveries[:4] }, "4 deliveries, not 5"},
		"no overlap":              {func(e *demo.Evidence) { e.Runs[1].Deliveries[0].Ended = start }, "ended before the last of the five began"},
		"two executed":            {func(e *demo.Evidence) { e.Runs[1].Deliveries[1].Outcome = "executed" }, "2 deliveries executed"},
		"nothing was killed":      {func(e *demo.Evidence) { e.KilledPID = 0 }, "no process was killed"},
		"the first one answered":  {func(e *demo.Evidence) { e.Runs[2].Deliveries[0].Outcome = "released" }, "no process was killed"},
		"no takeover":             {func(e *demo.Evidence) { e.Runs[2].Attempts = 1 }, "attempt 2 did not execute"},
		"forced swallowed":        {func(e *demo.Evidence) { e.Runs = e.Runs[:4] }, "1 records, not one forced and one scheduled"},
		"both are plain":          {func(e *demo.Evidence) { e.Runs[3].Forced = false }, "not one forced and one scheduled"},
		"another audience passed": {func(e *demo.Evidence) { e.WrongAudience = 200 }, "was answered 200, not 401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			seen := asItMustBe()
			c.spoil(&seen)

			faults := demo.Judge(seen)
			if !strings.Contains(strings.Join(faults, "\n"), c.want) {
				t.Errorf("faults %q lack %q", faults, c.want)
			}

			var out bytes.Buffer
			if code := demo.Report(&out, seen); code != 1 || !strings.HasSuffix(out.String(), "FAILED\n") {
				t.Errorf("exit code %d and last line of\n%s", code, out.String())
			}
		})
	}
}

func TestReportEndsWithTheVerdict(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	if code := demo.Report(&out, asItMustBe()); code != 0 {
		t.Errorf("exit code %d", code)
	}

	if want := "demo: runs=5 deliveries=12 effects=5 ok\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("last line is not %q:\n%s", want, out.String())
	}
}
