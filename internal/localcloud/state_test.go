package localcloud_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestTheStateSurvivesARestart(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	file := filepath.Join(t.TempDir(), "state.json")
	begin := func() *localcloud.Cloud {
		return start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), StateFile: file})
	}

	cloud := begin()
	job := httpJob(tg.url)
	withToken(job, "")
	create(t, cloud, job)
	advance(t, cloud, 6*time.Minute)

	other := httpJob(tg.url)
	other.Name = parent + "/jobs/paused"
	create(t, cloud, other)

	if _, err := schedulerClient(t, cloud, false).PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: other.GetName()}); err != nil {
		t.Fatal(err)
	}

	field := "projects/acme-prod/databases/(default)/collectionGroups/scheduler_runs/fields/expire_at"

	err := cloud.EditField(field, func(f *adminpb.Field) { f.TtlConfig = &adminpb.Field_TtlConfig{State: adminpb.Field_TtlConfig_ACTIVE} })
	if err != nil {
		t.Fatal(err)
	}

	before := [2]*schedulerpb.Job{}
	for i, name := range []string{nightly, other.GetName()} {
		before[i], _ = cloud.Job(name)
	}

	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}

	again := begin()
	if got := again.Now().Sub(noon()); got != 6*time.Minute {
		t.Errorf("the clock is at noon + %s", got)
	}

	for i, name := range []string{nightly, other.GetName()} {
		after, err := again.Job(name)
		if diff := cmp.Diff(before[i], after, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%s, %v (-before +after):\n%s", name, err, diff)
		}
	}

	kept, err := again.Field(t.Context(), field)
	if err != nil || kept.GetTtlConfig().GetState() != adminpb.Field_TtlConfig_ACTIVE {
		t.Errorf("field: %v, %v", kept, err)
	}

	advance(t, again, 5*time.Minute)

	if got := again.Deliveries(""); len(got) != 1 || got[0].ScheduleTime.Sub(noon()) != 10*time.Minute {
		t.Errorf("deliveries after the restart: %+v", got)
	}
}

func TestTheStateIsWrittenWhileTheCloudRunsAndForItsOwnerAlone(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "state.json")
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), StateFile: file})
	create(t, cloud, httpJob("http://127.0.0.1:1/"))

	for deadline := time.Now().Add(10 * time.Second); ; {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), nightly) {
			break
		}

		if time.Now().After(deadline) {
			t.Fatalf("the job is not in the file after 10 s: %v\n%s", err, text)
		}

		time.Sleep(10 * time.Millisecond)
	}

	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAStateThatCannotBeUsedStopsTheStart(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ content, want string }{
		"no JSON":       {"{", "unexpected end of JSON input"},
		"a later one":   {`{"version": 2}`, "its version is 2, and this program knows 1"},
		"a strange job": {`{"version": 1, "jobs": [{"name": "x"}]}`, `job "x": `},
		"no schedule":   {`{"version": 1, "jobs": [{"name": "` + nightly + `"}]}`, "Schedule or time zone is invalid."},
		"a bad field":   {`{"version": 1, "fields": [{"name": "x"}]}`, `field "x": `},
	} {
		file := filepath.Join(t.TempDir(), "state.json")
		if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}

		_, err := localcloud.Start(t.Context(), localcloud.Config{StateFile: file})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "or delete it to begin anew") {
			t.Errorf("%s: %v", name, err)
		}

		if text, _ := os.ReadFile(file); string(text) != tc.content {
			t.Errorf("%s: the file was changed to %s", name, text)
		}
	}

	_, err := localcloud.Start(t.Context(), localcloud.Config{StateFile: filepath.Join(t.TempDir(), "no", "folder.json")})
	if err == nil || !strings.Contains(err.Error(), "keep the state") {
		t.Errorf("no folder: %v", err)
	}
}
