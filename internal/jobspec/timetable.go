package jobspec

import "time"

// longestTimetable is how many attempts a timetable lists at most; max_retry_duration alone can allow millions.
const longestTimetable = 50

// Attempt is one row of the timetable of a run.
type Attempt struct {
	Number     int           // 1: the first delivery
	Earliest   time.Duration // after the schedule time, when every attempt before it failed at once
	Latest     time.Duration // after the schedule time, when every attempt before it was held until the deadline
	LeaseEnd   time.Duration // after the schedule time: the latest end of a claim that this attempt makes at Earliest
	AfterLease bool          // it is sure to find the lease of a first delivery that crashed over
}

// Timetable lists the attempts of a run that are certain to be made while each of them fails, 50 at most. Nil: something that they
// follow from is not known yet.
func (d Derived) Timetable() []Attempt {
	r, ok := d.recovery.Get()
	if !ok {
		return nil
	}
	attempts := make([]Attempt, 0, min(r.lastRetry()+1, longestTimetable))
	for k := range cap(attempts) {
		start := r.start(k)
		attempts = append(attempts, Attempt{
			Number:     k + 1,
			Earliest:   start,
			Latest:     plus(start, times(r.deadline, k)),
			LeaseEnd:   plus(start, r.blocked),
			AfterLease: start >= r.need(),
		})
	}
	return attempts
}
