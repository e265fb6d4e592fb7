package unixcron

import (
	"math"
	"time"
)

const (
	firstInstant = -62135596800 // 1 January of the year 1, UTC
	lastInstant  = 253402300799 // the last second of 9999, UTC: RFC 3339 ends there

	// widestOffset bounds every offset from UTC: RFC 9636 wants them between -25 and +26 hours.
	widestOffset = 26 * 60 * 60
)

// Next is the first instant after the given one at which the schedule fires in loc, in loc. A nil loc is UTC. The zero time: none
// before the year 10000, or a zero Schedule. It allocates nothing.
func (s Schedule) Next(after time.Time, loc *time.Location) time.Time {
	if s.grid.minutes == 0 {
		return time.Time{}
	}

	if loc == nil {
		loc = time.UTC
	}

	// Inside a segment of constant offset the wall clock is plain arithmetic, so a match is sought on the wall clock and kept if
	// the segment still holds it. If not, nothing fires before the segment ends, and nothing can fire before the first match that
	// any offset allows: the walk goes on there, however many segments lie between.
	for at := max(after.Unix(), firstInstant-1) + 1; at <= lastInstant; {
		segment := segmentAt(at, loc)

		minute, ok := s.grid.minuteFrom((at + segment.offset + unixEpoch + 59) / 60)
		if !ok {
			break
		}

		if match := minute*60 - unixEpoch - segment.offset; match < segment.end {
			if match > lastInstant {
				break
			}

			return time.Unix(match, 0).In(loc)
		}

		at = segment.end

		minute, ok = s.grid.minuteFrom((at - widestOffset + unixEpoch + 59) / 60)
		if !ok {
			break
		}

		at = max(at, minute*60-unixEpoch-widestOffset)
	}

	return time.Time{}
}

// Prev is the last instant before the given one at which the schedule fires in loc, in loc. A nil loc is UTC. The zero time: none
// since the year 1, or a zero Schedule. It allocates nothing.
func (s Schedule) Prev(before time.Time, loc *time.Location) time.Time {
	if s.grid.minutes == 0 {
		return time.Time{}
	}

	if loc == nil {
		loc = time.UTC
	}

	at := before.Unix()
	if before.Nanosecond() == 0 && at > firstInstant {
		at--
	}

	for at = min(at, lastInstant); at > firstInstant; {
		segment := segmentAt(at, loc)

		minute, ok := s.grid.minuteUntil((at + segment.offset + unixEpoch) / 60)
		if !ok {
			break
		}

		if match := minute*60 - unixEpoch - segment.offset; match >= segment.start {
			if match <= firstInstant {
				break
			}

			return time.Unix(match, 0).In(loc)
		}

		at = segment.start - 1

		minute, ok = s.grid.minuteUntil((at + widestOffset + unixEpoch) / 60)
		if !ok {
			break
		}

		at = min(at, minute*60-unixEpoch+widestOffset)
	}

	return time.Time{}
}

// segment is a stretch of time, in Unix seconds, over which a zone keeps one offset: from start up to, not including, end.
type segment struct{ start, end, offset int64 }

// segmentAt is a segment around the instant; its neighbours may have the same offset.
func segmentAt(at int64, loc *time.Location) segment {
	found := segment{start: math.MinInt64, end: math.MaxInt64}
	if loc == time.UTC {
		return found
	}

	t := time.Unix(at, 0).In(loc)
	_, offset := t.Zone()
	found.offset = int64(offset)

	start, end := t.ZoneBounds()

	// Where the zone's table has ended, the time package splits segments at the end of the year and takes every year for one of
	// 365 days: on 31 December of a leap year the end it gives has passed. The offset holds until that day is over in UTC.
	if !start.IsZero() {
		found.start = min(start.Unix(), at)
	}

	if !end.IsZero() {
		found.end = end.Unix()
		if found.end <= at {
			found.end = at - at%secondsPerDay + secondsPerDay
		}
	}

	return found
}
