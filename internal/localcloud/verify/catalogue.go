package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// check is one part of the contract.
type check struct {
	id, title string
	run       func(context.Context, *verifier) (finding, error)
	// callers says that the check is about tokens.
	callers bool
}

type finding struct {
	verdict Verdict
	detail  string
}

func holds() finding { return finding{verdict: Holds} }

func fails(format string, args ...any) finding {
	return finding{verdict: Fails, detail: fmt.Sprintf(format, args...)}
}

func unclear(format string, args ...any) finding {
	return finding{verdict: Unclear, detail: fmt.Sprintf(format, args...)}
}

// catalogue is everything that is checked, in order.
func catalogue() []check {
	checks := []check{
		{id: "executes", title: "a delivery of a new run does its work", run: executes},
		{id: "duplicate", title: "the same delivery again succeeds without doing the work", run: duplicate},
		{id: "late-duplicates", title: "so do five more, one after the other", run: lateDuplicates},
		{id: "next-run", title: "the next run of the job does its work", run: nextRun},
		{id: "race", title: "of deliveries at once, one does the work and the others are told to retry", run: race},
		{id: "early-success", title: "nobody is told of success before the work is done", run: earlySuccess},
		{id: "hang-up", title: "a delivery whose caller hangs up and its retry have one effect", run: hangUp},
	}
	checks = append(checks, spellings()...)
	checks = append(checks,
		check{id: "forced", title: "a forced run does its work once", run: forced},
		check{id: "forced-apart", title: "a forced run leaves the scheduled run of the same time to be done", run: forcedApart},
	)
	checks = append(checks, refusals()...)

	return append(checks, callers()...)
}

// IDs are the names of all checks, in order.
func IDs() []string {
	var ids []string
	for _, c := range catalogue() {
		ids = append(ids, c.id)
	}

	return ids
}

func chosen(cfg Config) ([]check, error) {
	for _, id := range cfg.Only {
		if !slices.Contains(IDs(), id) {
			return nil, fmt.Errorf("check %q is unknown: the checks are %s", id, strings.Join(IDs(), ", "))
		}
	}

	var out []check

	for _, c := range catalogue() {
		if (len(cfg.Only) == 0 || slices.Contains(cfg.Only, c.id)) && (!c.callers || cfg.Token != nil) {
			out = append(out, c)
		}
	}

	return out, nil
}

// counted makes deliveries and says how many effects they had, by the count if there is one and else by the answers.
func (v *verifier) counted(ctx context.Context, do func() []answer) (effects int, certain bool, answers []answer, err error) {
	before, told, err := v.effects(ctx)
	if err != nil {
		return 0, false, nil, err
	}

	answers = do()

	if !told {
		for _, a := range answers {
			if a.outcome == "executed" {
				effects++
			}
		}

		return effects, false, answers, nil
	}

	after, _, err := v.effects(ctx)

	return after - before, true, answers, err
}

// once judges a series of deliveries of one run: all succeed, and there was one effect in all.
func (v *verifier) once(ctx context.Context, deliveries ...delivery) (finding, error) {
	effects, certain, answers, err := v.counted(ctx, func() []answer {
		var out []answer
		for _, d := range deliveries {
			out = append(out, v.send(ctx, d))
		}

		return out
	})
	if err != nil {
		return finding{}, err
	}

	for i, a := range answers {
		if !a.success() {
			return fails("delivery %d of the run was answered %s", i+1, a), nil
		}
	}

	return judge(effects, 1, certain, answers), nil
}

func judge(effects, want int, certain bool, answers []answer) finding {
	switch {
	case effects == want:
		return holds()
	case certain:
		return fails("%d effects instead of %d: %s", effects, want, list(answers))
	case slices.ContainsFunc(answers, func(a answer) bool { return a.outcome != "" }):
		return fails("%d answers say executed instead of %d: %s", effects, want, list(answers))
	default:
		return unclear("no answer has the header Idempotent-Run, so the effects cannot be counted: give --effects a URL that tells them")
	}
}

func list(answers []answer) string {
	var out []string
	for _, a := range answers {
		out = append(out, a.String())
	}

	return strings.Join(out, ", ")
}
