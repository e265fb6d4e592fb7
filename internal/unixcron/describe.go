package unixcron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// mostTimes is how many times of day a description lists one by one.
const mostTimes = 6

// Describe says in words when the schedule fires: "at 03:00 on every day of the week from Monday to Friday". Empty: a zero Schedule.
func (s Schedule) Describe() string {
	if s.grid.minutes == 0 {
		return ""
	}

	return s.grid.times() + s.grid.dates()
}

// times says the minutes and hours.
func (g *grid) times() string {
	if bits.OnesCount64(g.minutes)*bits.OnesCount32(g.hours) <= mostTimes {
		var times []string

		for _, hour := range members(uint64(g.hours)) {
			for _, minute := range members(g.minutes) {
				times = append(times, fmt.Sprintf("%02d:%02d", hour, minute))
			}
		}

		return "at " + list(times, "and")
	}

	minutes := members(g.minutes)
	step := evenStep(minutes)

	switch {
	case g.minutes == allMinutes && g.hours == allHours:
		return "every minute"
	case g.minutes == allMinutes:
		return "every minute of " + g.hourWords()
	case step > 1 && minutes[0] == 0 && len(minutes)*step == 60 && g.hours == allHours:
		return "every " + strconv.Itoa(step) + " minutes"
	case step > 1 && minutes[0] == 0 && len(minutes)*step == 60:
		return "every " + strconv.Itoa(step) + " minutes of " + g.hourWords()
	default:
		return noun("at minute", values(g.minutes, strconv.Itoa)) + " of " + g.hourWords()
	}
}

// hourWords names the hours of the day.
func (g *grid) hourWords() string {
	hours := members(uint64(g.hours))
	step := evenStep(hours)

	switch {
	case g.hours == allHours:
		return "every hour"
	case step > 1 && hours[0] == 0 && len(hours)*step == 24:
		return "every " + ordinal(step) + " hour"
	default:
		return "the " + noun("hour", values(uint64(g.hours), strconv.Itoa))
	}
}

// dates says the days and months.
func (g *grid) dates() string {
	months := values(uint64(g.months), monthName)
	if strings.HasPrefix(months, "from ") {
		months = "the months " + months
	}

	days, inMonths := g.dayWords()+" of "+months, " in "+months
	if g.months == allMonths {
		days, inMonths = g.dayWords()+" of the month", ""
	}

	week := values(uint64(g.weekly), dayName)
	if strings.Contains(week, " to ") {
		week = "every day of the week " + week
	}

	everyDay := g.weekly == allWeek && g.days == allDays ||
		!g.anyDay && !g.anyWeek && (g.weekly == allWeek || g.days == allDays)

	switch {
	case everyDay:
		if inMonths == "" && bits.OnesCount64(g.minutes)*bits.OnesCount32(g.hours) > mostTimes {
			return ""
		}

		return " every day" + inMonths
	case g.anyDay || g.days == allDays:
		return " on " + week + inMonths
	case g.anyWeek || g.weekly == allWeek:
		return " on " + days
	default:
		return " on " + days + ", and on " + week + inMonths
	}
}

// dayWords names the days of the month.
func (g *grid) dayWords() string {
	days := members(uint64(g.days))
	if step := evenStep(days); step > 1 && len(days) > 2 && days[len(days)-1]+step > 31 {
		return "every " + ordinal(step) + " day from day " + strconv.Itoa(days[0])
	}

	return noun("day", values(uint64(g.days), strconv.Itoa))
}

// values says a set: a run of three and more as "from A to B", anything else as a list.
func values(set uint64, name func(int) string) string {
	all := members(set)

	if len(all) > 2 && evenStep(all) == 1 {
		return "from " + name(all[0]) + " to " + name(all[len(all)-1])
	}

	names := make([]string, 0, len(all))
	for _, value := range all {
		names = append(names, name(value))
	}

	return list(names, "and")
}

// noun puts a word before one value, its plural before more.
func noun(word, values string) string {
	if strings.Contains(values, " ") {
		word += "s"
	}

	return word + " " + values
}

func list(words []string, last string) string {
	if len(words) == 1 {
		return words[0]
	}

	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "2nd"
	case 3:
		return "3rd"
	default:
		return strconv.Itoa(n) + "th"
	}
}

func monthName(month int) string { return time.Month(month).String() }

func dayName(day int) string { return time.Weekday(day).String() }
