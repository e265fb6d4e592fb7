package soak

import (
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Config says how much is done.
type Config struct {
	// Seed decides what is delivered and what befalls whom. When it happens is the machine's affair.
	Seed uint64
	// Duration is how long new runs are begun at least. It goes on, by Patience at most, until each of what is counted has occurred
	// Least times.
	Duration, Patience time.Duration
	// Processes is how many handlers there are at a time, Open how many runs are delivered at a time.
	Processes, Open int
	// Least is how often kills, takeovers, lost replies and forced runs must occur each.
	Least int
	// LoseReplies is how likely a reply of the store gets lost, Unfenced breaks the store: see process.Config.
	LoseReplies float64
	Unfenced    bool
}

// Default is a soak of that seed and duration.
func Default(seed uint64, duration time.Duration) Config {
	return Config{Seed: seed, Duration: duration, Patience: 2*duration + time.Minute, Processes: 4, Open: 12, Least: 20, LoseReplies: 0.02}
}

// lease is what a dead attempt blocks its run for. It is as short as real engines on a busy machine allow.
const lease = 300 * time.Millisecond

// undoneFor is how long a run may be delivered without being done: some leases of attempts that die one after the other, on a machine
// that starts processes all the time.
const undoneFor = time.Minute

// Counts is what occurred.
type Counts struct {
	Runs, Forced, Deliveries, Duplicates, HangUps int
	Kills, Ends, Stops                            int
	Takeovers, LostReplies, Released, Lost        int
	Transactional, Renewed                        int
	Slowest                                       time.Duration // of all runs, from the first delivery until it was known to be done
}

func (c Counts) String() string {
	return fmt.Sprintf("%d runs (%d forced, %d with their effect in the transaction, %d renewed), the slowest done in %v; "+
		"%d deliveries, %d of them of runs that were done, %d cut off; %d kills, %d SIGTERMs, %d SIGSTOPs; "+
		"%d takeovers, %d releases, %d claims lost, %d replies of the store lost",
		c.Runs, c.Forced, c.Transactional, c.Renewed, c.Slowest.Round(time.Millisecond), c.Deliveries, c.Duplicates, c.HangUps,
		c.Kills, c.Ends, c.Stops, c.Takeovers, c.Released, c.Lost, c.LostReplies)
}

// short names what has not occurred often enough.
func (c Counts) short(least int) []string {
	var names []string
	for _, of := range []struct {
		name string
		n    int
	}{{"kills", c.Kills}, {"takeovers", c.Takeovers}, {"lost replies", c.LostReplies}, {"forced runs", c.Forced}} {
		if of.n < least {
			names = append(names, fmt.Sprintf("%d %s", of.n, of.name))
		}
	}
	return names
}

// entry is one run of the soak. The driver's lock guards it.
type entry struct {
	name     string
	delivery process.Delivery
	forced   bool
	tx       bool
	began    time.Time // of its first delivery; zero: none yet
	tries    int
	done     bool // an answer said so
}

func policy(renew bool) run.Policy {
	return run.Policy{Deadline: 2 * time.Second, Lease: lease, Renew: renew, Retention: time.Hour, Horizon: time.Hour}
}
