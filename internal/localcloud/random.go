package localcloud

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// Random lets things go wrong by chance. What happens to a delivery is a function of the seed and of what the delivery is (job,
// schedule time, forced or not, attempt), so the same seed tells the same story again, in whatever order deliveries come.
type Random struct {
	// Seed begins the chance; zero takes one from the machine's own.
	Seed uint64 `json:"seed"`
	// Rate is the share of attempts that meet a fault, from 0 (none: the mode is off) to 1.
	Rate float64 `json:"rate"`
	// Job is the full name or the short id of the only job that it concerns; empty: any.
	Job string `json:"job,omitempty"`
}

// randomFaults is the seeded chance of a cloud.
type randomFaults struct {
	mu  sync.Mutex
	set Random
}

func (r *randomFaults) use(set Random) (Random, error) {
	if set.Rate < 0 || set.Rate > 1 || set.Rate != set.Rate {
		return set, fmt.Errorf("rate is %v: it must be from 0 to 1", set.Rate)
	}

	if set.Seed == 0 && set.Rate > 0 {
		// Seeds pass through JSON and JavaScript, which hold 53 bits.
		set.Seed = rand.Uint64N(1<<53-1) + 1 //nolint:gosec // chance, no secret
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.set = set

	return set, nil
}

func (r *randomFaults) view() Random {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.set
}

// draw says what goes wrong with an attempt, if anything does.
func (r *randomFaults) draw(try attempt) Fault {
	set := r.view()
	if set.Rate == 0 || !matchesJob(set.Job, try.job.GetName()) {
		return Fault{}
	}

	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s\n%s\n%t\n%d", try.job.GetName(), try.at.UTC().Format(time.RFC3339Nano), try.forced, try.tries)

	var seed [32]byte

	binary.LittleEndian.PutUint64(seed[:], set.Seed)
	binary.LittleEndian.PutUint64(seed[8:], hash.Sum64())

	chance := rand.New(rand.NewChaCha8(seed)) //nolint:gosec // repeatable chance is what is wanted
	if chance.Float64() >= set.Rate {
		return Fault{}
	}

	pick := chance.IntN(6)
	wait := time.Duration(1+chance.IntN(20)) * time.Second

	return []Fault{
		{Kind: LostReply},
		{Kind: Duplicate, Count: 2 + chance.IntN(4)},
		{Kind: Duplicate, Count: 2, After: wait},
		{Kind: Delay, Delay: wait},
		{Kind: Reset, After: wait / 10},
		{Kind: Status, Status: []int{500, 502, 503, 504}[chance.IntN(4)]},
	}[pick]
}

// Randomize lets things go wrong by chance from now on, or no more with a Rate of zero. It returns the settings with the seed that was
// taken, by which the same can be had again.
func (c *Cloud) Randomize(set Random) (Random, error) { return c.scheduler.random.use(set) }
