package verify

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func executes(ctx context.Context, v *verifier) (finding, error) {
	return v.once(ctx, delivery{at: v.past()})
}

func duplicate(ctx context.Context, v *verifier) (finding, error) {
	d := delivery{at: v.past()}

	return v.once(ctx, d, d)
}

func lateDuplicates(ctx context.Context, v *verifier) (finding, error) {
	d := delivery{at: v.past()}

	return v.once(ctx, d, d, d, d, d, d)
}

func nextRun(ctx context.Context, v *verifier) (finding, error) {
	at := v.past()

	effects, certain, answers, err := v.counted(ctx, func() []answer {
		return []answer{v.send(ctx, delivery{at: at}), v.send(ctx, delivery{at: v.past()})}
	})
	if err != nil {
		return finding{}, err
	}

	return judge(effects, 2, certain, answers), nil
}

// together makes deliveries of one run at once.
func (v *verifier) together(ctx context.Context, d delivery) []answer {
	out := make([]answer, v.cfg.Rivals)

	var (
		all   sync.WaitGroup
		start = make(chan struct{})
	)

	for i := range out {
		all.Go(func() {
			<-start

			out[i] = v.send(ctx, d)
		})
	}

	close(start)
	all.Wait()

	return out
}

func race(ctx context.Context, v *verifier) (finding, error) {
	effects, certain, answers, err := v.counted(ctx, func() []answer { return v.together(ctx, delivery{at: v.past()}) })
	if err != nil {
		return finding{}, err
	}

	won := false

	for _, a := range answers {
		switch {
		case a.err != nil:
			return fails("a rival got %s", a), nil //nolint:nilerr // the error is the finding
		case a.status == http.StatusServiceUnavailable:
			return fails("a rival was answered 503, which App Engine jobs retry for ever: answer 409"), nil
		case !a.success() && a.status != http.StatusConflict && a.status != http.StatusTooManyRequests:
			return fails("a rival was answered %s: answer 409 while another attempt is at the run", a), nil
		}

		won = won || a.success()
	}

	if !won {
		return fails("nobody did the work: %s", list(answers)), nil
	}

	return judge(effects, 1, certain, answers), nil
}

func earlySuccess(ctx context.Context, v *verifier) (finding, error) {
	answers := v.together(ctx, delivery{at: v.past()})

	var done time.Time

	for _, a := range answers {
		if a.outcome == "executed" {
			done = a.ended
		}
	}

	if done.IsZero() {
		return unclear("no answer has the header Idempotent-Run with the value executed, so the end of the work is not seen"), nil
	}

	// The end of the work is seen by its answer, which may come a little after that of a rival who was told right after.
	const slack = 50 * time.Millisecond

	for _, a := range answers {
		if a.success() && a.outcome != "executed" && a.ended.Before(done.Add(-slack)) {
			return fails("a rival was told %s, %s before the work was done: if that fails, nobody retries", a, done.Sub(a.ended).Round(time.Millisecond)), nil
		}
	}

	return holds(), nil
}

func hangUp(ctx context.Context, v *verifier) (finding, error) {
	d := delivery{at: v.past()}

	effects, certain, answers, err := v.counted(ctx, func() []answer {
		short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		_ = v.send(short, d) // nobody is there for this answer

		cancel()

		return v.retried(ctx, d)
	})
	if err != nil {
		return finding{}, err
	}

	last := answers[len(answers)-1]

	switch {
	case !last.success():
		return fails("the retry never succeeded: %s", list(answers)), nil
	case certain && effects != 1:
		return fails("%d effects", effects), nil
	case effects > 1:
		return fails("%d answers say executed: %s", effects, list(answers)), nil
	}

	return holds(), nil
}

// retried delivers until there is success, as Cloud Scheduler would within its limits.
func (v *verifier) retried(ctx context.Context, d delivery) []answer {
	var out []answer

	until := time.Now().Add(v.cfg.Timeout)
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		out = append(out, v.send(ctx, d))
		if out[len(out)-1].success() || time.Now().Add(wait).After(until) {
			return out
		}

		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()

			return out
		}
	}
}

// spellings are the ways in which the same run is written.
func spellings() []check {
	again := func(change func(delivery) delivery) func(context.Context, *verifier) (finding, error) {
		return func(ctx context.Context, v *verifier) (finding, error) {
			d := delivery{at: v.past()}

			return v.once(ctx, d, change(d))
		}
	}
	written := func(layout string, zone *time.Location) func(context.Context, *verifier) (finding, error) {
		return again(func(d delivery) delivery {
			d.header = map[string][]string{run.HeaderScheduleTime: {d.at.In(zone).Format(layout)}}

			return d
		})
	}
	spelled := func(spell func(string) string) func(context.Context, *verifier) (finding, error) {
		return again(func(d delivery) delivery {
			d.spell = spell

			return d
		})
	}

	return []check{
		{id: "lower-case", title: "header names in lower case mean the same run", run: spelled(strings.ToLower)},
		{id: "upper-case", title: "header names in upper case mean the same run", run: spelled(strings.ToUpper)},
		{id: "canonical-case", title: "header names as Go and proxies rewrite them mean the same run", run: spelled(http.CanonicalHeaderKey)},
		{
			id: "offset", title: "the schedule time written with an offset means the same run",
			run: written("2006-01-02T15:04:05-07:00", time.FixedZone("", -7*3600)),
		},
		{id: "fraction", title: "the schedule time written with a fraction of zero means the same run", run: written("2006-01-02T15:04:05.000Z", time.UTC)},
	}
}

func forced(ctx context.Context, v *verifier) (finding, error) {
	d := delivery{at: v.future()}

	effects, certain, answers, err := v.counted(ctx, func() []answer { return []answer{v.send(ctx, d), v.send(ctx, d)} })
	if err != nil {
		return finding{}, err
	}

	switch {
	case answers[0].outcome == "rejected":
		return holds(), nil
	case !answers[0].success() || !answers[1].success():
		return fails("the forced run was answered %s", list(answers)), nil
	}

	return judge(effects, 1, certain, answers), nil
}

// forcedApart lets the time of a forced run come, which a handler believes that runs under a local cloud.
func forcedApart(ctx context.Context, v *verifier) (finding, error) {
	d := delivery{at: v.future()}
	later := d
	later.header = map[string][]string{run.HeaderClock: {d.at.Add(time.Second).Format(time.RFC3339)}}

	effects, certain, answers, err := v.counted(ctx, func() []answer { return []answer{v.send(ctx, d), v.send(ctx, later)} })

	switch {
	case err != nil:
		return finding{}, err
	case answers[0].outcome == "rejected":
		return holds(), nil
	case !answers[0].success() || !answers[1].success():
		return fails("the runs were answered %s", list(answers)), nil
	case effects == 1:
		return unclear("the scheduled run was not done after the forced one: the policy is skip_next, or the handler does not believe the "+
			"local cloud's clock (%s, loopback only)", run.EnvLocalCloud), nil
	}

	return judge(effects, 2, certain, answers), nil
}
