package groc

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// days is a set of days of the calendar.
type days struct {
	set bool
	// weekdays, ordinals of a weekday in its month, days of the month, and months; empty: all.
	weekdays []time.Weekday
	ordinals []int
	numbers  []int
	months   []time.Month
}

func (d days) match(day time.Time) bool {
	return holds(d.weekdays, day.Weekday()) && holds(d.ordinals, (day.Day()-1)/7+1) && holds(d.numbers, day.Day()) && holds(d.months, day.Month())
}

func holds[T comparable](set []T, value T) bool { return len(set) == 0 || slices.Contains(set, value) }

// parseDays reads days, then perhaps "of" and months, then a time of day.
func parseDays(words []string) (Schedule, bool) {
	at, ok := clock(words[len(words)-1])
	if !ok {
		return Schedule{}, false
	}

	d := days{set: true}
	named := words[:len(words)-1]

	if i := slices.Index(named, "of"); i >= 0 {
		d.months, ok = months(named[i+1:])
		if !ok {
			return Schedule{}, false
		}

		named = named[:i]
	}

	switch len(named) {
	case 1:
		d.numbers, ok = each(named[0], func(text string) (int, bool) {
			n, err := strconv.Atoi(text)

			return n, err == nil && n >= 1 && n <= 31
		})
	case 2:
		ok = d.week(named[0], named[1])
	default:
		ok = false
	}

	return Schedule{days: d, at: at}, ok
}

// week reads "every" or ordinals, and the weekdays or "day" that they count.
func (d *days) week(which, what string) bool {
	var ok bool

	if which != "every" {
		d.ordinals, ok = each(which, ordinal)
		if !ok {
			return false
		}
	}

	if what == "day" {
		// The nth day of a month is that of its number.
		d.numbers, d.ordinals = d.ordinals, nil

		return true
	}

	d.weekdays, ok = each(what, func(text string) (time.Weekday, bool) {
		n, found := named(text, func(i int) string { return time.Weekday(i).String() }, 0, 6)

		return time.Weekday(n), found
	})

	return ok
}

func months(words []string) ([]time.Month, bool) {
	switch text := strings.Join(words, " "); text {
	case "month":
		return nil, true
	case "quarter", "1st month of quarter", "first month of quarter":
		return []time.Month{1, 4, 7, 10}, true
	case "2nd month of quarter", "second month of quarter":
		return []time.Month{2, 5, 8, 11}, true
	case "3rd month of quarter", "third month of quarter":
		return []time.Month{3, 6, 9, 12}, true
	default:
		return each(text, func(text string) (time.Month, bool) {
			n, found := named(text, func(i int) string { return time.Month(i).String() }, 1, 12)

			return time.Month(n), found
		})
	}
}

// each reads a comma list.
func each[T any](text string, read func(string) (T, bool)) ([]T, bool) {
	var out []T

	for part := range strings.SplitSeq(text, ",") {
		value, ok := read(part)
		if !ok {
			return nil, false
		}

		out = append(out, value)
	}

	return out, true
}

// named finds the number of a name that is written out or by its first three letters; September has four, too.
func named(text string, name func(int) string, from, to int) (int, bool) {
	for i := from; i <= to; i++ {
		whole := strings.ToLower(name(i))
		if text == whole || text == whole[:3] || text == "sept" && whole == "september" {
			return i, true
		}
	}

	return 0, false
}

func ordinal(text string) (int, bool) {
	for i, names := range [][]string{{"1st", "first"}, {"2nd", "second"}, {"3rd", "third"}, {"4th", "fourth"}, {"5th", "fifth"}} {
		if slices.Contains(names, text) {
			return i + 1, true
		}
	}

	return 0, false
}
