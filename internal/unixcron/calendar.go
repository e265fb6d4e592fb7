package unixcron

import "math/bits"

// Days are counted from 1 March of the year 0: a leap day then ends its year, and every day of the years 1 to 9999 is positive.
const (
	unixEpochDay   = 719468 // 1 January 1970
	daysPerCycle   = 146097 // 400 years of the Gregorian calendar
	minutesPerDay  = 24 * 60
	secondsPerDay  = 24 * 60 * 60
	unixEpoch      = unixEpochDay * secondsPerDay
	lastYear       = 10000 // one beyond the last answer: its first hours are still 9999 in zones east of it
	weekdayOfDay0  = 3     // Wednesday
	everySevenDays = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
)

// civil is the date of a day, by the algorithm of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
func civil(day uint32) (year, month, dayOfMonth uint32) {
	cycle := day / daysPerCycle
	rest := day % daysPerCycle
	yearOfCycle := (rest - rest/1460 + rest/36524 - rest/146096) / 365
	dayOfYear := rest - (365*yearOfCycle + yearOfCycle/4 - yearOfCycle/100)
	fromMarch := (5*dayOfYear + 2) / 153
	dayOfMonth = dayOfYear - (153*fromMarch+2)/5 + 1
	year = cycle*400 + yearOfCycle

	if fromMarch < 10 {
		return year, fromMarch + 3, dayOfMonth
	}

	return year + 1, fromMarch - 9, dayOfMonth
}

// firstOf is the day of the first of a month.
func firstOf(year, month uint32) uint32 {
	fromMarch := month + 9
	if month > 2 {
		fromMarch = month - 3
	} else {
		year--
	}

	return year*365 + year/4 - year/100 + year/400 + (153*fromMarch+2)/5
}

func lengthOf(year, month uint32) uint32 {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}

		return 28
	}

	return 30 + (month^month>>3)&1
}

// daysOf is the set of matching days of a month, without regard to whether the month matches. first is the day of its first.
func (g *grid) daysOf(year, month, first uint32) uint32 {
	month1 := uint32(1)<<(lengthOf(year, month)+1) - 2
	weekday := (first + weekdayOfDay0) % 7
	week := uint64(g.weekly>>weekday|g.weekly<<(7-weekday)) & allWeek
	byWeek := uint32(week * everySevenDays << 1)

	if g.anyDay || g.anyWeek {
		return g.days & byWeek & month1
	}

	return (g.days | byWeek) & month1
}

// dayFrom is the first matching day not before the given one.
func (g *grid) dayFrom(day uint32) (uint32, bool) {
	if g.byWeek {
		weekday := (day + weekdayOfDay0) % 7

		return day + uint32(bits.TrailingZeros32(g.weekly>>weekday|g.weekly<<(7-weekday))), day < lastYear*366
	}

	year, month, dayOfMonth := civil(day)
	first := day - dayOfMonth + 1

	for year <= lastYear {
		if g.months>>month&1 != 0 {
			if left := g.daysOf(year, month, first) >> dayOfMonth << dayOfMonth; left != 0 {
				return first + uint32(bits.TrailingZeros32(left)) - 1, true
			}
		}

		later := g.months >> (month + 1) << (month + 1)
		if later == 0 {
			later = g.months
			year++
		}

		month = uint32(bits.TrailingZeros32(later))
		first = firstOf(year, month)
		dayOfMonth = 1
	}

	return 0, false
}

// dayUntil is the last matching day not after the given one.
func (g *grid) dayUntil(day uint32) (uint32, bool) {
	year, month, dayOfMonth := civil(day)
	first := day - dayOfMonth + 1

	for year > 0 {
		if g.months>>month&1 != 0 {
			if left := g.daysOf(year, month, first) << (31 - dayOfMonth) >> (31 - dayOfMonth); left != 0 {
				return first + uint32(bits.Len32(left)) - 2, true
			}
		}

		earlier := g.months & (1<<month - 1)
		if earlier == 0 {
			earlier = g.months
			year--
		}

		month = uint32(bits.Len32(earlier)) - 1
		first = firstOf(year, month)
		dayOfMonth = 31
	}

	return 0, false
}

// minuteFrom is the first matching minute not before the given one, both counted from the start of day 0.
func (g *grid) minuteFrom(minute int64) (int64, bool) {
	today := uint32(minute / minutesPerDay)

	day, ok := g.dayFrom(today)
	if ok && day == today {
		rest := uint32(minute % minutesPerDay)
		hour := rest / 60

		if left := g.minutes >> (rest % 60) << (rest % 60); left != 0 && g.hours>>hour&1 != 0 {
			return join(day, hour, uint32(bits.TrailingZeros64(left))), true
		}

		if left := g.hours >> (hour + 1) << (hour + 1); left != 0 {
			return join(day, uint32(bits.TrailingZeros32(left)), g.firstMinute()), true
		}

		day, ok = g.dayFrom(today + 1)
	}

	return join(day, uint32(bits.TrailingZeros32(g.hours)), g.firstMinute()), ok
}

// minuteUntil is the last matching minute not after the given one, both counted from the start of day 0.
func (g *grid) minuteUntil(minute int64) (int64, bool) {
	today := uint32(minute / minutesPerDay)

	day, ok := g.dayUntil(today)
	if ok && day == today {
		rest := uint32(minute % minutesPerDay)
		hour := rest / 60

		if left := g.minutes & (2<<(rest%60) - 1); left != 0 && g.hours>>hour&1 != 0 {
			return join(day, hour, uint32(bits.Len64(left))-1), true
		}

		if left := g.hours & (1<<hour - 1); left != 0 {
			return join(day, uint32(bits.Len32(left))-1, g.lastMinute()), true
		}

		day, ok = g.dayUntil(today - 1)
	}

	return join(day, uint32(bits.Len32(g.hours))-1, g.lastMinute()), ok
}

func (g *grid) firstMinute() uint32 { return uint32(bits.TrailingZeros64(g.minutes)) }

func (g *grid) lastMinute() uint32 { return uint32(bits.Len64(g.minutes)) - 1 }

func join(day, hour, minute uint32) int64 {
	return int64(day)*minutesPerDay + int64(hour*60+minute)
}
