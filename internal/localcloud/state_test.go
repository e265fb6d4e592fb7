package localcloud_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

	got := again.Deliveries(nightly)
	if len(got) != 2 || got[1].ScheduleTime.Sub(noon()) != 10*time.Minute {
		t.Errorf("deliveries after the restart: %+v", got)
	}
}

func TestDeliveriesSurviveARestart(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "done") })
	file := filepath.Join(t.TempDir(), "state.json")
	begin := func() *localcloud.Cloud {
		return start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), StateFile: file, History: 40})
	}

	cloud := begin()
	create(t, cloud, httpJob(tg.url))

	if err := cloud.Inject(localcloud.Fault{Kind: localcloud.LostReply}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 10*time.Minute)

	before := cloud.Deliveries("")
	if len(before) != 2 || before[0].Fault != localcloud.LostReply || string(before[0].Body) != "done" {
		t.Fatalf("deliveries: %+v", before)
	}

	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}

	// A process that is killed may leave half a line.
	diary, err := os.OpenFile(file+".deliveries", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}

	_, err = diary.WriteString(`{"id": 3, "jo`)
	if err := errors.Join(err, diary.Close()); err != nil {
		t.Fatal(err)
	}

	again := begin()
	if diff := cmp.Diff(before, again.Deliveries(""), cmpopts.EquateApproxTime(time.Microsecond)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}

	// Numbers go on, and what is told by number is the right delivery.
	advance(t, again, 5*time.Minute)

	if got := again.Deliveries(""); len(got) != 3 || got[2].ID != 3 || got[2].Run != 3 {
		t.Errorf("the delivery after: %+v", got)
	}

	// The file forgets as the cloud does.
	for range 5 {
		advance(t, again, 4*time.Hour)
	}

	if err := again.Close(); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(file + ".deliveries")
	if lines := strings.Count(string(text), "\n"); err != nil || lines > 3*40 {
		t.Errorf("%d lines for a history of 40, %v", lines, err)
	}

	last := begin().Deliveries("")
	if n := len(last); n == 0 || n > 40 || last[n-1].ID != 243 {
		t.Errorf("%d deliveries, the last %+v", n, last[n-1])
	}
}

func TestDeliveriesThatCannotBeReadStopTheStart(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file+".deliveries", []byte("{\"id\": 1}\nnothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, err := localcloud.Start(t.Context(), localcloud.Config{StateFile: file})
	if err == nil || !strings.Contains(err.Error(), "line 2: ") || !strings.Contains(err.Error(), "delete the file to begin anew") {
		t.Errorf("%v", err)
	}
}

// What is killed has written what had happened a moment before.
func TestDeliveriesAreWrittenWhileTheCloudRuns(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	file := filepath.Join(t.TempDir(), "state.json")
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), StateFile: file})
	create(t, cloud, httpJob(tg.url))
	advance(t, cloud, 5*time.Minute)
	eventually(t, file+".deliveries", `"status":200`)
	eventually(t, file, `"lastAttemptTime":`)
}

// eventually waits until a file holds a text.
func eventually(t *testing.T, file, want string) {
	t.Helper()

	for deadline := time.Now().Add(10 * time.Second); ; {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), want) {
			return
		}

		if time.Now().After(deadline) {
			t.Fatalf("%s is not in %s after 10 s: %v\n%s", want, file, err, text)
		}

		time.Sleep(10 * time.Millisecond)
	}
}

func TestTheStateIsWrittenWhileTheCloudRunsAndForItsOwnerAlone(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "state.json")
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), StateFile: file})
	create(t, cloud, httpJob("http://127.0.0.1:1/"))

	eventually(t, file, nightly)

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

func TestACloudThatDoesNotStartLetsGoOfTheState(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "state.json")
	taken := start(t, localcloud.Config{})

	_, err := localcloud.Start(t.Context(), localcloud.Config{
		StateFile: file, Fronts: []localcloud.Front{{Listen: taken.Addr(), Target: "http://127.0.0.1:1"}},
	})
	if err == nil {
		t.Fatal("started on an address that is taken")
	}

	start(t, localcloud.Config{StateFile: file})

	_, err = localcloud.Start(t.Context(), localcloud.Config{StateFile: file})
	if err == nil || !strings.Contains(err.Error(), "is kept by process ") {
		t.Errorf("a second cloud: %v", err)
	}
}
