package planlint

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// Options are what a check depends on beside the document. The zero Options judge with every rule at its own level.
type Options struct {
	Now      time.Time // from which clock changes are looked for and suppressions end; zero: neither
	Settings *Settings // nil: none
	Source   *Source   // nil: findings have no position
	// Folder is where relative output_dirs of handlers start. Empty: generated handlers are not looked at.
	Folder string
}

// Check judges a document.
func Check(d *Document, options Options) Result {
	c := newChecker(d, options)
	c.checkJobs()
	c.checkElsewhere()
	c.checkAccess()
	c.checkClaims()
	for _, j := range c.jobs {
		c.checkChange(j)
	}
	c.checkHandlers()
	return c.result()
}

// checker holds what the rules share.
type checker struct {
	document *Document
	options  Options
	byBlock  map[string][]*resource
	jobs     []*job
	targets  []*target
	emails   map[*resource]string     // of service accounts; empty: not known
	levels   map[jobspec.RuleID]Level // of each rule

	found    []placed
	accepted []placed
	waiting  map[*resource][]jobspec.RuleID
}

// placed is a finding with the resource that it is about.
type placed struct {
	Finding

	about *resource
}

func newChecker(d *Document, options Options) *checker {
	d = d.copied()
	c := &checker{document: d, options: options, byBlock: map[string][]*resource{}, emails: map[*resource]string{}, waiting: map[*resource][]jobspec.RuleID{}}
	c.levels = map[jobspec.RuleID]Level{}
	for _, rule := range Rules() {
		c.levels[rule.ID] = rule.Level
	}
	for _, r := range d.resources {
		c.byBlock[blockKey(r)] = append(c.byBlock[blockKey(r)], r)
	}
	var jobs []*resource
	for _, r := range d.resources {
		switch {
		case !r.stays():
		case r.kind == typeOurJob, r.kind == typeGoogleJob:
			jobs = append(jobs, r)
		case slices.Contains(targetTypes(), r.kind):
			c.targets = append(c.targets, targetOf(r))
		}
	}
	c.jobs = make([]*job, len(jobs))
	inParallel(len(jobs), func(i int) { c.jobs[i] = c.jobOf(jobs[i]) })
	c.linkTargets()
	for _, j := range c.jobs {
		c.fillAccount(j)
	}
	return c
}

// inParallel calls do for 0 to n-1 on all processors.
func inParallel(n int, do func(i int)) {
	const chunk = 16
	workers := min(runtime.GOMAXPROCS(0), n/chunk+1)
	var next sync.Mutex
	at := 0
	take := func() (from, to int) {
		next.Lock()
		defer next.Unlock()
		from, to = at, min(at+chunk, n)
		at = to
		return from, to
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for from, to := take(); from < to; from, to = take() {
				for i := from; i < to; i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
}

// report files a finding at its rule's own level.
func (c *checker) report(about *resource, f Finding) {
	f.Level = c.levels[f.Rule]
	c.reportAt(about, f)
}

// reportAt files a finding that brings its level.
func (c *checker) reportAt(about *resource, f Finding) {
	f.Address = about.address
	c.found = append(c.found, placed{f, about})
}

func (c *checker) wait(about *resource, rules ...jobspec.RuleID) {
	for _, rule := range rules {
		if !slices.Contains(c.waiting[about], rule) {
			c.waiting[about] = append(c.waiting[about], rule)
		}
	}
}

// result puts everything into the order of the document and applies the settings.
func (c *checker) result() Result {
	order := map[jobspec.RuleID]int{}
	for i, rule := range Rules() {
		order[rule.ID] = i
	}
	byPlace := func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.about.place, b.about.place), cmp.Compare(order[a.Rule], order[b.Rule]))
	}
	slices.SortStableFunc(c.found, byPlace)
	slices.SortStableFunc(c.accepted, byPlace)
	result := Result{Jobs: len(c.jobs), Resources: c.document.total}
	for _, f := range c.accepted {
		f.Accepted = true
		f.Position = c.options.Source.position(f.about)
		result.Suppressed = append(result.Suppressed, f.Finding)
	}
	apply := c.options.Settings.begin(c.options.Now)
	for _, f := range c.found {
		f.Position = c.options.Source.position(f.about)
		f.Level = apply.level(f.Rule, f.Level)
		switch reason, suppressed := apply.suppress(f.Finding, f.about); {
		case f.Level == Off:
		case suppressed:
			f.Reason = reason
			result.Suppressed = append(result.Suppressed, f.Finding)
		default:
			result.Findings = append(result.Findings, f.Finding)
		}
	}
	result.Findings = append(result.Findings, apply.leftOver()...)
	for _, r := range c.document.resources {
		rules := slices.DeleteFunc(c.waiting[r], func(id jobspec.RuleID) bool { return apply.level(id, Error) == Off })
		if len(rules) > 0 {
			result.Waiting = append(result.Waiting, Waiting{r.address, rules})
		}
	}
	return result
}
