package verify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// refusals are deliveries that no run can be told from, or that ask for what the handler cannot do.
func refusals() []check {
	refused := func(id, title string, status int, header func(*verifier, time.Time) map[string][]string) check {
		return check{id: id, title: title, run: func(ctx context.Context, v *verifier) (finding, error) {
			at := v.past()

			return v.refused(ctx, delivery{at: at, header: header(v, at)}, status)
		}}
	}
	set := func(name string, values ...string) func(*verifier, time.Time) map[string][]string {
		return func(*verifier, time.Time) map[string][]string { return map[string][]string{name: values} }
	}

	return []check{
		refused("no-schedule-time", "a delivery without a schedule time is refused", http.StatusBadRequest, set(run.HeaderScheduleTime)),
		refused("empty-schedule-time", "a delivery with an empty schedule time is refused", http.StatusBadRequest, set(run.HeaderScheduleTime, "")),
		refused("unreadable-time", "a schedule time that is no time is refused", http.StatusBadRequest, set(run.HeaderScheduleTime, "yesterday noon")),
		refused("repeated-time", "two schedule times are refused", http.StatusBadRequest, func(_ *verifier, at time.Time) map[string][]string {
			return map[string][]string{run.HeaderScheduleTime: {at.Format(time.RFC3339), at.Add(-time.Minute).Format(time.RFC3339)}}
		}),
		refused("repeated-time-case", "two schedule times in different case are refused", http.StatusBadRequest,
			func(_ *verifier, at time.Time) map[string][]string {
				return map[string][]string{"x-cloudscheduler-scheduletime": {at.Add(-time.Minute).Format(time.RFC3339)}}
			}),
		refused("no-job-name", "a delivery without a job name is refused", http.StatusBadRequest, set(run.HeaderJobName)),
		refused("repeated-job-name", "two job names are refused", http.StatusBadRequest, func(v *verifier, _ time.Time) map[string][]string {
			return map[string][]string{run.HeaderJobName: {v.cfg.Job, v.cfg.Job + "-2"}}
		}),
		refused("strange-job-name", "a job name outside its alphabet is refused", http.StatusBadRequest, set(run.HeaderJobName, "a/../b")),
		refused("not-scheduler", "a request that does not come from a job is refused", http.StatusBadRequest, set(run.HeaderScheduler)),
		refused("unknown-policy", "a policy with an unknown key is an error and not ignored", http.StatusInternalServerError,
			set(run.HeaderPolicy, "v=1;no_such_key=1")),
		refused("unknown-version", "a policy of an unknown version is an error and not ignored", http.StatusInternalServerError,
			set(run.HeaderPolicy, "v=99")),
	}
}

// refused judges a delivery that must have no effect. The status is the contract's; another of the same class is a weakness only where
// Cloud Scheduler treats it otherwise, which it does not.
func (v *verifier) refused(ctx context.Context, d delivery, want ...int) (finding, error) {
	effects, _, answers, err := v.counted(ctx, func() []answer { return []answer{v.send(ctx, d)} })
	if err != nil {
		return finding{}, err
	}

	got := answers[0]

	switch {
	case effects > 0:
		return fails("the work was done: %s", got), nil
	case got.err != nil, got.success():
		return fails("answered %s instead of %s", got, either(want)), nil //nolint:nilerr // the error is the finding
	}

	if slices.Contains(want, got.status) {
		return holds(), nil
	}

	if got.status/100 == want[0]/100 && got.status != http.StatusNotFound && got.status != http.StatusConflict {
		return finding{verdict: Holds, detail: fmt.Sprintf("answered %s, the contract has %s", got, either(want))}, nil
	}

	return fails("answered %s instead of %s", got, either(want)), nil
}

func either(statuses []int) string {
	out := make([]string, len(statuses))
	for i, status := range statuses {
		out[i] = strconv.Itoa(status)
	}

	return strings.Join(out, " or ")
}
