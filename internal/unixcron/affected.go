package unixcron

import (
	"time"
)

// AffectedKind tells what a change of the clocks does to a wall-clock time.
type AffectedKind string

const (
	// Skipped: the wall clock never shows the time, the run of that time does not happen.
	Skipped AffectedKind = "skipped"
	// Repeated: the wall clock shows the time twice, two runs happen.
	Repeated AffectedKind = "repeated"
)

// Affected is a wall-clock time of a schedule that a change of the clocks skips or repeats.
type Affected struct {
	// Wall is the time by the wall clock: 2027-03-28 02:30.
	Wall string
	Kind AffectedKind
	// At holds the instants at which the schedule fires for this time, in its zone: none if skipped, two if repeated.
	At []time.Time
}

const (
	wallLayout = "2006-01-02 15:04"

	// affectedYears is how far ahead changes of the clocks are looked at: the calendar repeats its weekdays every 28 years, but for
	// the turn of a century, so that a rule that has not met a schedule by then is not known to meet it.
	affectedYears = 30
)

// NextAffected lists the next n times of the schedule that changes of the clocks after the given instant skip or repeat in loc, in
// the order of those changes, as far as 30 years ahead. A nil loc is UTC, which has none. A schedule that fires every hour has some
// at every change, although it keeps its pace (see [Schedule.EveryHour]).
func (s Schedule) NextAffected(after time.Time, loc *time.Location, n int) []Affected {
	if s.grid.minutes == 0 || loc == nil {
		return nil
	}

	var found []Affected

	at := max(after.Unix(), firstInstant)
	horizon := min(after.AddDate(affectedYears, 0, 0).Unix(), lastInstant)

	for before := segmentAt(at, loc); before.end <= horizon && len(found) < n; {
		next := segmentAt(before.end, loc)
		found = s.affectedBy(found, before.end, before.offset, next.offset, loc, n)
		before = next
	}

	return found
}

// affectedBy appends the times that the change at an instant from one offset to another skips or repeats.
func (s Schedule) affectedBy(found []Affected, change, before, after int64, loc *time.Location, n int) []Affected {
	low, high := change+min(before, after), change+max(before, after)
	wall := low

	for len(found) < n {
		minute, ok := s.grid.minuteFrom((wall + unixEpoch + 59) / 60)
		if !ok {
			break
		}

		wall = minute*60 - unixEpoch
		if wall >= high {
			break
		}

		affected := Affected{Wall: time.Unix(wall, 0).UTC().Format(wallLayout), Kind: Skipped}
		if after < before {
			affected.Kind = Repeated
			affected.At = []time.Time{time.Unix(wall-before, 0).In(loc), time.Unix(wall-after, 0).In(loc)}
		}

		found = append(found, affected)
		wall++
	}

	return found
}
