package demo

import (
	"fmt"
	"slices"
)

const duplicateCount = 5

// Judge returns what is not as it must be: each run needs exactly one effect, and each scenario must really have been seen.
func Judge(seen Evidence) []string {
	var faults []string

	byScenario := map[Scenario][]RunSeen{}

	for _, r := range seen.Runs {
		byScenario[r.Scenario] = append(byScenario[r.Scenario], r)

		if r.Effects != 1 {
			faults = append(faults, fmt.Sprintf("%s has %d effects, not one", r.Name, r.Effects))
		}

		if r.Status != "completed" {
			faults = append(faults, fmt.Sprintf("%s is %q in the claim store, not completed", r.Name, r.Status))
		}
	}

	faults = append(faults, judgeLostReply(byScenario[LostReply])...)
	faults = append(faults, judgeDuplicates(byScenario[Duplicates])...)
	faults = append(faults, judgeKilled(byScenario[Killed], seen.KilledPID)...)
	faults = append(faults, judgeForced(byScenario[Forced])...)

	if seen.WrongAudience != 401 {
		faults = append(faults, fmt.Sprintf("a token for another audience was answered %d, not 401", seen.WrongAudience))
	}

	return faults
}

// judgeLostReply wants the reply of a successful delivery lost, and the retry told that it is a duplicate.
func judgeLostReply(runs []RunSeen) []string {
	if len(runs) != 1 {
		return []string{fmt.Sprintf("(a) lost reply: %d runs, not one", len(runs))}
	}

	d := runs[0].Deliveries
	if len(d) < 2 || d[0].Outcome != "executed" || d[0].Fault == "" || d[len(d)-1].Outcome != "duplicate" {
		return []string{fmt.Sprintf("(a) lost reply: answers %v, not a lost `executed` and then `duplicate`", outcomes(d))}
	}

	return nil
}

// judgeDuplicates wants five deliveries of one run at the same time, and one of them executed.
func judgeDuplicates(runs []RunSeen) []string {
	if len(runs) != 1 {
		return []string{fmt.Sprintf("(b) duplicates: %d runs, not one", len(runs))}
	}

	first := runs[0].Deliveries
	if len(first) < duplicateCount {
		return []string{fmt.Sprintf("(b) duplicates: %d deliveries, not %d", len(first), duplicateCount)}
	}

	var faults []string

	first = first[:duplicateCount]
	lastStart := slices.MaxFunc(first, func(a, b DeliverySeen) int { return a.Started.Compare(b.Started) }).Started

	for _, d := range first {
		if d.Outcome == "executed" && d.Ended.Before(lastStart) {
			faults = append(faults, "(b) duplicates: the executed delivery ended before the last of the five began")
		}
	}

	if n := count(runs[0].Deliveries, "executed"); n != 1 {
		faults = append(faults, fmt.Sprintf("(b) duplicates: %d deliveries executed, not one", n))
	}

	return faults
}

// judgeKilled wants the process of the first attempt killed, and the second attempt to execute.
func judgeKilled(runs []RunSeen, pid int) []string {
	if len(runs) != 1 {
		return []string{fmt.Sprintf("(c) killed: %d runs, not one", len(runs))}
	}

	var faults []string

	d := runs[0].Deliveries
	if pid == 0 || len(d) == 0 || d[0].Outcome != noAnswer {
		faults = append(faults, fmt.Sprintf("(c) killed: pid %d, answers %v: no process was killed during the first delivery", pid, outcomes(d)))
	}

	if len(d) == 0 || d[len(d)-1].Outcome != "executed" || runs[0].Attempts != 2 {
		faults = append(faults, fmt.Sprintf("(c) killed: attempt %d, answers %v: attempt 2 did not execute", runs[0].Attempts, outcomes(d)))
	}

	return faults
}

// judgeForced wants a forced and a scheduled run of one schedule time, each with a record and an effect of its own.
func judgeForced(runs []RunSeen) []string {
	forced := slices.IndexFunc(runs, func(r RunSeen) bool { return r.Forced })
	plain := slices.IndexFunc(runs, func(r RunSeen) bool { return !r.Forced })

	if len(runs) != 2 || forced < 0 || plain < 0 {
		return []string{fmt.Sprintf("(d) forced: %d records, not one forced and one scheduled", len(runs))}
	}

	return nil
}

func count(d []DeliverySeen, outcome string) int {
	n := 0

	for _, one := range d {
		if one.Outcome == outcome {
			n++
		}
	}

	return n
}

func outcomes(d []DeliverySeen) []string {
	all := make([]string, len(d))
	for i, one := range d {
		all[i] = one.Outcome
	}

	return all
}
