// Package groc says when schedules in groc are due, the schedule language of App Engine that Cloud Scheduler also takes.
//
// It holds what unix-cron cannot say: intervals that count from the end of the run before, intervals within a part of the day, and
// ordinals such as the first Monday of a month. The grammar and its meaning are those of the reference of cron.yaml.
package groc

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	minutesPerDay = 24 * 60
	// farthest is how many days ahead a day is looked for: every combination of ordinal, weekday and month comes about sooner.
	farthest = 366 * 40
)

// Schedule is a groc schedule. Its zero value is never due.
type Schedule struct {
	interval time.Duration
	// window is set for intervals within a part of the day, whose first and last minute are from and to.
	window   bool
	from, to int
	// days says on which days runs are due, at the minute at.
	days days
	at   int
}

// Parse reads a schedule; false: it is no groc, or not one that is understood.
func Parse(expr string) (Schedule, bool) {
	words := split(expr)
	if len(words) < 2 {
		return Schedule{}, false
	}

	if words[0] == "every" {
		if unit(words[1]) > 0 {
			words = slices.Insert(words, 1, "1")
		}

		if n, err := strconv.Atoi(words[1]); err == nil {
			return parseInterval(n, words[2:])
		}
	}

	return parseDays(words)
}

// FromEnd is the time from the end of a run to the start of the next; zero: runs are due at times that Next tells.
func (s Schedule) FromEnd() time.Duration {
	if s.window {
		return 0
	}

	return s.interval
}

// Next is the first time after another, by the wall clock of a zone, at which a run is due. The zero time: never, or FromEnd tells.
func (s Schedule) Next(after time.Time, loc *time.Location) time.Time {
	local := after.In(loc)
	midnight := func(days int) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()+days, 0, 0, 0, 0, loc)
	}

	switch {
	case s.window:
		// A window that began yesterday may reach into today.
		for day := -1; day <= 2; day++ {
			for minute := s.from; minute <= s.to; minute += int(s.interval / time.Minute) {
				if at := onDay(midnight(day), minute); at.After(after) {
					return at
				}
			}
		}
	case s.days.set:
		for day := range farthest {
			if at := onDay(midnight(day), s.at); at.After(after) && s.days.match(midnight(day)) {
				return at
			}
		}
	}

	return time.Time{}
}

// onDay is a minute of a day by the wall clock.
func onDay(day time.Time, minute int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, day.Location())
}

func parseInterval(n int, words []string) (Schedule, bool) {
	if n < 1 || n > 1000*minutesPerDay || len(words) == 0 || unit(words[0]) == 0 {
		return Schedule{}, false
	}

	s := Schedule{interval: time.Duration(n) * unit(words[0])}

	switch rest := words[1:]; {
	case len(rest) == 0:
		return s, true
	case len(rest) == 1 && rest[0] == "synchronized":
		s.window, s.to = true, minutesPerDay-1

		// Only what divides a day evenly stays in step with midnight.
		return s, 24*time.Hour%s.interval == 0
	case len(rest) == 4 && rest[0] == "from" && rest[2] == "to":
		var okFrom, okTo bool

		s.window = true
		s.from, okFrom = clock(rest[1])
		s.to, okTo = clock(rest[3])

		if s.to < s.from {
			s.to += minutesPerDay
		}

		return s, okFrom && okTo
	default:
		return Schedule{}, false
	}
}

func unit(word string) time.Duration {
	switch word {
	case "minute", "minutes", "min", "mins":
		return time.Minute
	case "hour", "hours":
		return time.Hour
	default:
		return 0
	}
}

// clock reads 9:00 or 09:00 as minutes since midnight.
func clock(text string) (int, bool) {
	hours, minutes, found := strings.Cut(text, ":")
	h, err := strconv.Atoi(hours)
	m, errMinutes := strconv.Atoi(minutes)

	return h*60 + m, found && err == nil && errMinutes == nil && len(minutes) == 2 && h >= 0 && h < 24 && m >= 0 && m < 60
}

// split parts an expression into lower-case words; blanks beside a comma part nothing.
func split(expr string) []string {
	text := strings.ToLower(expr)
	for _, loose := range []string{", ", " ,"} {
		for strings.Contains(text, loose) {
			text = strings.ReplaceAll(text, loose, ",")
		}
	}

	return strings.Fields(text)
}
