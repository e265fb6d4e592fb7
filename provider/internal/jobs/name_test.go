package jobs_test

import (
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

func TestNamesAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	want := jobs.Name{Project: "acme-prod", Region: "europe-west1", Job: "nightly"}
	for _, text := range []string{
		"projects/acme-prod/locations/europe-west1/jobs/nightly",
		"//cloudscheduler.googleapis.com/projects/acme-prod/locations/europe-west1/jobs/nightly",
		"acme-prod/europe-west1/nightly", "europe-west1/nightly", "nightly",
	} {
		got, err := jobs.ParseName(text, "acme-prod", "europe-west1")
		if err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestNamesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "is none of the forms",
		"a/b/c/d":                         "is none of the forms",
		"europe-west1/":                   "is none of the forms",
		"projects/p/locations/r/queues/q": "is none of the forms",
		"nightly":                         "names no project",
		"europe-west1/nightly":            "names no project",
	} {
		if _, err := jobs.ParseName(text, "", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := jobs.ParseName("nightly", "acme-prod", ""); err == nil || !strings.Contains(err.Error(), "names no region") {
		t.Errorf("without a region: %v", err)
	}
}
