package run_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func nightly() run.Identity {
	return run.Identity{
		Project: "acme-prod", Region: "europe-west1", Job: "nightly-report",
		ScheduleTime: time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC),
	}
}

func TestNamesAndIDsAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	forced := nightly()
	forced.Forced = true
	sample := nightly()
	sample.Format, sample.RawTime = run.FormatSample, "2026-10-16T12:00:00Z"
	zoned := nightly()
	zoned.ScheduleTime = zoned.ScheduleTime.In(time.FixedZone("", 2*3600))
	sampleForced := sample
	sampleForced.Forced = true
	scoped := run.Identity{Scope: "eu_pair", ScheduleTime: nightly().ScheduleTime}
	fraction := nightly()
	fraction.ScheduleTime = fraction.ScheduleTime.Add(250 * time.Millisecond)
	rawZone := sample
	rawZone.RawTime = "2026-10-16T05:00:00-07:00"

	const job = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"
	for name, test := range map[string]struct {
		identity run.Identity
		name, id string
	}{
		"plain":            {nightly(), job + "/runs/2026-10-16T12:00:00Z", "dec08a8162c772e6492f1e2c92c30f1dfbffeaf2cfbd65006636bf9a5527f00f"},
		"forced":           {forced, job + "/forced/2026-10-16T12:00:00Z", "849b0a12e6540c003e964ed67d8299c7a5d32b303d6f554be7d4e06c29be56c3"},
		"sample":           {sample, "nightly-report/2026-10-16T12:00:00Z", "bdce749a727d0c6823969d2821b6f5bff953873a72f22452e9a046ea49625ff6"},
		"another zone":     {zoned, job + "/runs/2026-10-16T12:00:00Z", "dec08a8162c772e6492f1e2c92c30f1dfbffeaf2cfbd65006636bf9a5527f00f"},
		"sample forced":    {sampleForced, "nightly-report/2026-10-16T12:00:00Z", "bdce749a727d0c6823969d2821b6f5bff953873a72f22452e9a046ea49625ff6"},
		"scope":            {scoped, "scopes/eu_pair/runs/2026-10-16T12:00:00Z", run.ID("scopes/eu_pair/runs/2026-10-16T12:00:00Z")},
		"fraction":         {fraction, job + "/runs/2026-10-16T12:00:00.25Z", run.ID(job + "/runs/2026-10-16T12:00:00.25Z")},
		"sample, raw zone": {rawZone, "nightly-report/2026-10-16T05:00:00-07:00", run.ID("nightly-report/2026-10-16T05:00:00-07:00")},
	} {
		got, err := test.identity.Name()
		if err != nil || got != test.name || run.ID(got) != test.id {
			t.Errorf("%s: Name() = %q, %v with id %s; want %q with id %s", name, got, err, run.ID(got), test.name, test.id)
		}
	}
}

func TestNameRefusesPartsOutsideTheirAlphabets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change func(*run.Identity)
		want   string
	}{
		{func(i *run.Identity) { i.Project = "acme/prod" }, `project of the run is "acme/prod": it must be [A-Za-z0-9:.-]{1,300}`},
		{func(i *run.Identity) { i.Project = "" }, `project of the run is empty: it must be [A-Za-z0-9:.-]{1,300}`},
		{func(i *run.Identity) { i.Region = "" }, `region of the run is empty: it must be [a-z0-9-]{1,63}`},
		{func(i *run.Identity) { i.Job = "" }, `job of the run is empty: it must be [A-Za-z0-9_-]{1,500}`},
		{func(i *run.Identity) { i.Region = "Europe" }, `region of the run is "Europe": it must be [a-z0-9-]{1,63}`},
		{func(i *run.Identity) { i.Job = "a b" }, `job of the run is "a b": it must be [A-Za-z0-9_-]{1,500}`},
		{func(i *run.Identity) { i.Job = strings.Repeat("j", 501) }, `job of the run is "` + strings.Repeat("j", 100) + `"… (501 bytes): it must be [A-Za-z0-9_-]{1,500}`},
		{func(i *run.Identity) { i.Scope = "a.b" }, `scope of the run is "a.b": it must be [A-Za-z0-9_-]{1,100}`},
		{func(i *run.Identity) { i.Scope, i.Region = "s", "X" }, `region of the run is "X": it must be [a-z0-9-]{1,63}`},
		{func(i *run.Identity) { i.Format, i.Scope = run.FormatSample, "s" }, `scope of the run is "s": it must be left out in the sample's format, which has no place for it`},
		{func(i *run.Identity) { i.Format = "v2" }, `format of the run is "v2": it must be v1 or sample`},
		{func(i *run.Identity) { i.ScheduleTime = time.Time{} }, `schedule time of the run is empty: it must be an RFC 3339 time`},
		{func(i *run.Identity) { i.ScheduleTime = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, `schedule time of the run is "12000-01-01T00:00:00Z": it must be in the years 1 to 9999`},
		{func(i *run.Identity) { i.ScheduleTime = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC) }, `schedule time of the run is "0000-12-31T00:00:00Z": it must be in the years 1 to 9999`},
		{func(i *run.Identity) { i.Format, i.RawTime = run.FormatSample, "2026-10-16T12:00:01Z" }, `schedule time of the run is "2026-10-16T12:00:01Z": it must be a spelling of 2026-10-16T12:00:00Z`},
		{func(i *run.Identity) { i.Format, i.RawTime = run.FormatSample, "yesterday" }, `schedule time of the run is "yesterday": it must be a spelling of 2026-10-16T12:00:00Z`},
	} {
		identity := nightly()
		test.change(&identity)
		name, err := identity.Name()
		var part *run.NameError
		if !errors.As(err, &part) || err.Error() != test.want {
			t.Errorf("Name() = %q, %v; want the error %q", name, err, test.want)
		}
	}
}

// TestAPartIsWhatItsAlphabetSays: each byte alone, and as many as may be.
func TestAPartIsWhatItsAlphabetSays(t *testing.T) {
	t.Parallel()
	for part, check := range map[string]func(string) error{
		"project": run.CheckProject, "region": run.CheckRegion, "job": run.CheckJob, "scope": run.CheckScope,
	} {
		var refused *run.NameError
		if !errors.As(check(""), &refused) {
			t.Fatalf("%s: an empty one is let pass", part)
		}
		allowed := regexp.MustCompile("^" + refused.Allowed + "$")
		texts := make([]string, 0, 256+600)
		for b := range 256 {
			texts = append(texts, string([]byte{byte(b)}))
		}
		for n := range 600 {
			texts = append(texts, strings.Repeat("a", n))
		}
		for _, text := range texts {
			if err := check(text); (err == nil) != allowed.MatchString(text) {
				t.Errorf("%s %q: %v, allowed is %s", part, text, err, refused.Allowed)
			}
		}
	}
}

func TestKeyNameHidesAndSeparatesItsParts(t *testing.T) {
	t.Parallel()
	name := run.KeyName("tenant", "secret-key")
	if name != "keys/"+run.ID("tenant")+"/"+run.ID("secret-key") || strings.Contains(name, "secret") {
		t.Errorf("KeyName = %q", name)
	}
	if run.KeyName("a/b", "c") == run.KeyName("a", "b/c") {
		t.Error("a separator inside a part moves text from one part to the other")
	}
}

func TestWebhookNameSeparatesItsParts(t *testing.T) {
	t.Parallel()
	if name := run.WebhookName("acme", "msg_1"); name != "webhooks/"+run.ID("acme")+"/"+run.ID("msg_1") {
		t.Errorf("WebhookName = %q", name)
	}
	if run.WebhookName("a/b", "c") == run.WebhookName("a", "b/c") {
		t.Error("a separator inside a part moves text from one part to the other")
	}
}

func TestContextCarriesTheRun(t *testing.T) {
	t.Parallel()
	if r, ok := run.FromContext(t.Context()); ok {
		t.Errorf("a bare context carries %v", r)
	}
	want := run.Run{Identity: nightly(), Name: "n", ID: "i", Attempt: 2}
	if r, ok := run.FromContext(run.NewContext(t.Context(), &want)); !ok || r != want {
		t.Errorf("FromContext = %v, %v; want %v", r, ok, want)
	}
	if r, ok := run.FromContext(run.NewContext(t.Context(), nil)); ok {
		t.Errorf("a context that was given no run carries %v", r)
	}
}
