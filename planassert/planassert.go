// Package planassert holds the checks of `terraform-provider-idempotent check` as plan checks for terraform-plugin-testing: for
// people who test their modules.
//
//	resource.TestStep{
//		Config: config,
//		ConfigPlanChecks: resource.ConfigPlanChecks{
//			PreApply: []plancheck.PlanCheck{
//				planassert.NoFindings(),
//			},
//		},
//	}
//
// Findings and rule ids are those of the command; docs/rules has a page for each. What is known only after apply neither passes nor
// fails.
package planassert

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

// Finding is one violation of one rule by one resource.
type Finding struct {
	Rule    string // the rule's id
	Level   string // error, warning or note
	Address string // of the resource
	Path    string // inside the resource, such as retry_config.0.retry_count; empty: the resource itself
	Summary string
	Detail  string
	Remedy  string
}

// String is the finding as error messages show it.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]\n  %s\n  %s", f.Address, f.Level, f.Summary, f.Rule, f.Detail, f.Remedy)
}

// Option changes what a check judges.
type Option func(*options)

type options struct {
	now     time.Time
	allowed []string
	least   planlint.Level
}

// Allow leaves the findings of rules out. An id that does not exist fails the check.
func Allow(rules ...string) Option {
	return func(o *options) { o.allowed = append(o.allowed, rules...) }
}

// ErrorsOnly leaves warnings out. Notes never count.
func ErrorsOnly() Option { return func(o *options) { o.least = planlint.Error } }

// At judges clock changes as seen from that time, so that a test does not depend on the day it runs on. The default is the present.
func At(now time.Time) Option { return func(o *options) { o.now = now } }

// check is a plan check over the findings of a plan.
type check struct {
	options options
	judge   func(planlint.Result, options) error
}

// CheckPlan judges the plan.
func (c check) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, rule := range c.options.allowed {
		if err := known(rule); err != nil {
			resp.Error = err
			return
		}
	}
	result, err := resultOf(req.Plan, c.options.now)
	if err != nil {
		resp.Error = err
		return
	}
	resp.Error = c.judge(result, c.options)
}

func resultOf(plan *tfjson.Plan, now time.Time) (planlint.Result, error) {
	content, err := json.Marshal(plan)
	if err != nil {
		return planlint.Result{}, fmt.Errorf("write the plan as JSON: %w", err)
	}
	document, err := planlint.Read(bytes.NewReader(content))
	if err != nil {
		return planlint.Result{}, fmt.Errorf("read the plan: %w", err)
	}
	return planlint.Check(document, planlint.Options{Now: now}), nil
}

func with(opts []Option, judge func(planlint.Result, options) error) plancheck.PlanCheck {
	o := options{now: time.Now(), least: planlint.Warning}
	for _, set := range opts {
		set(&o)
	}
	return check{o, judge}
}

// NoFindings fails for each error and warning, and lists them.
func NoFindings(opts ...Option) plancheck.PlanCheck {
	return with(opts, func(r planlint.Result, o options) error {
		var found []string
		for _, f := range r.Findings {
			if f.Level >= o.least && !slices.Contains(o.allowed, string(f.Rule)) {
				found = append(found, finding(f).String())
			}
		}
		if len(found) == 0 {
			return nil
		}
		return fmt.Errorf("the plan has %d findings:\n%s", len(found), strings.Join(found, "\n"))
	})
}

// ExpectFinding fails unless the rule finds something at the address, at whatever level.
func ExpectFinding(address, rule string, opts ...Option) plancheck.PlanCheck {
	return with(opts, func(r planlint.Result, _ options) error {
		if err := known(rule); err != nil {
			return err
		}
		for _, f := range r.Findings {
			if f.Address == address && string(f.Rule) == rule {
				return nil
			}
		}
		for _, w := range r.Waiting {
			if w.Address == address && slices.Contains(w.Rules, ruleID(rule)) {
				return fmt.Errorf("rule %s cannot tell about %s before apply", rule, address)
			}
		}
		return fmt.Errorf("rule %s finds nothing at %s; found are: %s", rule, address, list(r.Findings))
	})
}

// ExpectNoFinding fails if the rule finds something at the address, or cannot tell before apply.
func ExpectNoFinding(address, rule string, opts ...Option) plancheck.PlanCheck {
	return with(opts, func(r planlint.Result, _ options) error {
		if err := known(rule); err != nil {
			return err
		}
		for _, f := range r.Findings {
			if f.Address == address && string(f.Rule) == rule {
				return fmt.Errorf("the plan has a finding:\n%s", finding(f))
			}
		}
		for _, w := range r.Waiting {
			if w.Address == address && slices.Contains(w.Rules, ruleID(rule)) {
				return fmt.Errorf("rule %s cannot tell about %s before apply", rule, address)
			}
		}
		return nil
	})
}

// Findings hands all findings, notes included, to a function of the test's own, whose error fails the check.
func Findings(judge func([]Finding) error, opts ...Option) plancheck.PlanCheck {
	return with(opts, func(r planlint.Result, o options) error {
		var all []Finding
		for _, f := range r.Findings {
			if !slices.Contains(o.allowed, string(f.Rule)) {
				all = append(all, finding(f))
			}
		}
		return judge(all)
	})
}
