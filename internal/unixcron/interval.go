package unixcron

import "time"

// ShortestInterval is the least time between two runs by the wall clock, over all years of the calendar: changes of the clocks can
// bring two runs closer together. Zero: a zero Schedule.
func (s Schedule) ShortestInterval() time.Duration {
	g := s.grid
	if g.minutes == 0 {
		return 0
	}

	first, last, within := g.timesOfDay()
	across := g.closestDays()*minutesPerDay - (last - first)

	return time.Duration(min(within, across)) * time.Minute
}

// timesOfDay is the first and the last matching minute of a day, and the least distance between two of one day.
func (g *grid) timesOfDay() (first, last, closest int64) {
	first, closest = -1, 1<<62

	for minute := range int64(minutesPerDay) {
		if g.hours>>(minute/60)&1 == 0 || g.minutes>>(minute%60)&1 == 0 {
			continue
		}

		if first < 0 {
			first = minute
		} else {
			closest = min(closest, minute-last)
		}

		last = minute
	}

	return first, last, closest
}

// closestDays is the least distance between two matching days. Two cycles of the calendar hold every distance.
func (g *grid) closestDays() int64 {
	const from, until = daysPerCycle, 3 * daysPerCycle

	closest := int64(until)

	day, ok := g.dayFrom(from)
	for ok && day < until && closest > 1 {
		var next uint32

		next, ok = g.dayFrom(day + 1)
		if ok {
			closest = min(closest, int64(next-day))
		}

		day = next
	}

	return closest
}
