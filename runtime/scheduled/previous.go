package scheduled

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// previous knows the names that runs had before a change. Nil: they always had the ones that they have.
type previous struct {
	claimer *claim.Claimer // over the previous store; nil: there is but one
	byJob   map[string]*run.Previous
}

// checkPrevious says what is wrong with how runs were named.
func (c *Config) checkPrevious() []error {
	var problems []error
	if c.NeedsPreviousStore && c.PreviousStore == nil {
		problems = append(problems, fmt.Errorf("previous store is missing: open the one that %s names and set Config.PreviousStore, or generate "+
			"the handler again", run.EnvPreviousStore))
	}
	if c.PreviousStore != nil && len(c.Previous) == 0 {
		problems = append(problems, errors.New("previous is missing: say in Config.Previous until when the previous store counts"))
	}
	if c.PreviousStore != nil && c.PreviousStore == c.Store {
		problems = append(problems, errors.New("previous store is the store: leave it out"))
	}
	if _, err := run.ParsePrevious(run.EncodePrevious(c.Previous)); err != nil {
		problems = append(problems, fmt.Errorf("previous: %w", err))
	}
	return problems
}

func newPrevious(cfg Config, options []claim.Option) *previous {
	if len(cfg.Previous) == 0 {
		return nil
	}
	p := &previous{byJob: make(map[string]*run.Previous, len(cfg.Previous))}
	for i := range cfg.Previous {
		p.byJob[cfg.Previous[i].Job] = &cfg.Previous[i]
	}
	if cfg.PreviousStore != nil {
		p.claimer = claim.New(cfg.PreviousStore, options...)
	}
	return p
}

// of returns how a job's runs were named. Nil: as now, or that is over.
func (p *previous) of(job string, now time.Time) *naming {
	if p == nil {
		return nil
	}
	found, ok := p.byJob[job]
	if !ok {
		found, ok = p.byJob[""]
	}
	if !ok || !now.Before(found.Until) {
		return nil
	}
	return (*naming)(found)
}

// naming is how runs were named; nil: as now.
type naming run.Previous

// apart reports whether the name of a run told forced from scheduled ones.
func (n *naming) apart() bool { return n != nil && (*run.Previous)(n).Separate() }

// add gives a proposal its previous name, unless that is the name that it has.
func (p *previous) add(to *claim.Proposal, n *naming, identity run.Identity, forced bool) error {
	if n == nil {
		return nil
	}
	identity, named := run.Previous(*n).Names(identity, forced)
	if !named {
		return nil
	}
	name, err := identity.Name()
	if err != nil {
		return fmt.Errorf("previous name of the run: %w", err)
	}
	id := run.ID(name)
	if id == to.ID && p.claimer == nil {
		return nil
	}
	to.Previous = &claim.Previous{ID: id, Run: name, Claimer: p.claimer}
	return nil
}

func (p *previous) shutdown(ctx context.Context) error {
	if p == nil || p.claimer == nil {
		return nil
	}
	return p.claimer.Shutdown(ctx)
}
