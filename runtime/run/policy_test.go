package run_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestPolicyReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]run.Policy{
		"v=1":                          {},
		"v=1;deadline=180s;lease=210s": {Deadline: 180 * time.Second, Lease: 210 * time.Second},
		"v=1;lease=1.5s":               {Lease: 1500 * time.Millisecond},
		"v=1;format=sample":            {Format: run.FormatSample},
		"v=1;forced=skip_next":         {Forced: run.ForcedSkipNext},
		"v=1;schedule=*/5 * * * 1-5;tz=Etc/GMT+5": {Schedule: "*/5 * * * 1-5", TimeZone: "Etc/GMT+5"},
		"v=1;schedule=%20a%3Bb%25%C3%A4%09c=d%20": {Schedule: " a;b%ä\tc=d "},
		"v=1;deadline=180s;timeout=300s;lease=60s;renew=true;retention=86400s;horizon=4000s;forced=reject;scope=eu;" +
			"max_attempts=3;at_most_once=true;wait=true;schedule=0 3 * * *;tz=Europe/Berlin": {
			Deadline: 180 * time.Second, Timeout: 300 * time.Second, Lease: time.Minute, Renew: true, Retention: 24 * time.Hour,
			Horizon: 4000 * time.Second, Forced: run.ForcedReject, Scope: "eu", MaxAttempts: 3, AtMostOnce: true, Wait: true,
			Schedule: "0 3 * * *", TimeZone: "Europe/Berlin",
		},
	} {
		if got := p.Encode(); got != want {
			t.Errorf("Encode() = %q; want %q", got, want)
		}
		if got, err := run.ParsePolicy(want); err != nil || got != p {
			t.Errorf("ParsePolicy(%q) = %+v, %v; want %+v", want, got, err, p)
		}
	}
}

func TestPolicyDefaultsAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, p := range []run.Policy{
		{Forced: run.ForcedSeparate, Format: run.FormatV1},
	} {
		if got := p.Encode(); got != "v=1" {
			t.Errorf("%+v encodes as %q; want v=1", p, got)
		}
	}
	if got := (run.Policy{Format: run.FormatSample, Forced: run.ForcedSkipNext}).Encode(); got != "v=1;format=sample" {
		t.Errorf("the forced policy that the sample's format implies is written: %q", got)
	}
}

func TestPolicyRefusesWhatItCannotHonour(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                `policy key "" is not of the form key=value`,
		"deadline=180s":                   `policy key "v" is missing: the policy has no version`,
		"v=2;whatever=1":                  `policy key "v" with value "2" is unknown: this library reads v=1; update it to the provider's version`,
		"v=1;colour=red":                  `policy key "colour" is unknown: update this handler's library to the provider's version`,
		"v=1;lease=1s;lease=2s":           `policy key "lease" is given twice`,
		"v=1;":                            `policy key "" is not of the form key=value`,
		"v=1;deadline=3":                  `policy key "deadline" with value "3" is not a positive duration such as 180s`,
		"v=1;timeout=-3s":                 `policy key "timeout" with value "-3s" is not a positive duration such as 180s`,
		"v=1;lease=0s":                    `policy key "lease" with value "0s" is not a positive duration such as 180s`,
		"v=1;retention=999999999h":        `policy key "retention" with value "999999999h" is not a positive duration such as 180s`,
		"v=1;horizon=x":                   `policy key "horizon" with value "x" is not a positive duration such as 180s`,
		"v=1;renew=yes":                   `policy key "renew" with value "yes" is neither true nor false`,
		"v=1;at_most_once=1":              `policy key "at_most_once" with value "1" is neither true nor false`,
		"v=1;wait=TRUE":                   `policy key "wait" with value "TRUE" is neither true nor false`,
		"v=1;forced=drop":                 `policy key "forced" with value "drop" is none of separate, skip_next, reject`,
		"v=1;scope=a/b":                   `policy key "scope" with value "a/b" does not match [A-Za-z0-9_-]{1,100}`,
		"v=1;format=v3":                   `policy key "format" with value "v3" is neither v1 nor sample`,
		"v=1;max_attempts=0":              `policy key "max_attempts" with value "0" is not a whole number of at least 1`,
		"v=1;schedule=":                   `policy key "schedule" is empty: leave it out instead`,
		"v=1;tz=%zz":                      `policy key "tz" with value "%zz" holds a percent sign that is not followed by two hexadecimal digits`,
		"v=1;format=sample;scope=a":       `policy key "scope" with value "a" cannot be combined with format=sample, whose names have no place for it`,
		"v=1;format=sample;forced=reject": `policy key "forced" with value "reject" cannot be combined with format=sample, which implies skip_next`,
	} {
		_, err := run.ParsePolicy(header)
		var refused *run.PolicyError
		if !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("ParsePolicy(%q) says %v; want %s", header, err, want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("v=1;deadline=180s;forced=reject;schedule=0 3 * * *;tz=UTC")
	f.Add("v=1;tz=%2")
	f.Fuzz(func(t *testing.T, header string) {
		p, err := run.ParsePolicy(header)
		if err != nil {
			return
		}
		if again, err := run.ParsePolicy(p.Encode()); err != nil || again.Encode() != p.Encode() {
			t.Errorf("%q reads as %+v, which reads back as %+v, %v", header, p, again, err)
		}
	})
}
