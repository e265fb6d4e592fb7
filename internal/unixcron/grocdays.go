package unixcron

import (
	"strconv"
	"strings"
)

// fromDays reads groc that names days: days, then perhaps "of" months, then a time of day. Days are "every" with days of the week,
// or numbers of the month; ordinals ("1st monday") pick one week, which unix-cron cannot.
func fromDays(words []string) string {
	minute, ok := timeOfDay(words[len(words)-1])
	if !ok {
		return ""
	}

	days, months := words[:len(words)-1], "*"

	for i, word := range days {
		if word == "of" {
			months, ok = grocMonths(days[i+1:])
			days = days[:i]

			break
		}
	}

	day, week := "*", "*"

	switch {
	case !ok:
		return ""
	case len(days) == 2 && days[0] == "every":
		week, ok = grocList(days[1], dayNames)
		if days[1] == "day" {
			week, ok = "*", true
		}
	case len(days) == 1:
		day = days[0]
	default:
		return ""
	}

	expr := strconv.Itoa(minute%60) + " " + strconv.Itoa(minute/60) + " " + day + " " + months + " " + week
	if _, wrong := parse(expr, 0); !ok || wrong != nil {
		return ""
	}

	return expr
}

// grocMonths reads what follows "of": month, quarter, names of months, or ordinals with "month of quarter".
func grocMonths(words []string) (string, bool) {
	switch text := strings.Join(words, " "); text {
	case "month":
		return "*", true
	case "quarter":
		return "1,4,7,10", true
	case "1st month of quarter", "first month of quarter":
		return "1,4,7,10", true
	case "2nd month of quarter", "second month of quarter":
		return "2,5,8,11", true
	case "3rd month of quarter", "third month of quarter":
		return "3,6,9,12", true
	default:
		return grocList(text, monthNames)
	}
}

// grocList turns a comma list of names into one of three-letter names.
func grocList(text, names string) (string, bool) {
	list := strings.Split(text, ",")

	for i, name := range list {
		list[i] = shortName(name)
		if !isNameOf(names, list[i]) {
			return "", false
		}
	}

	return strings.Join(list, ","), true
}

// timeOfDay reads hours and minutes, 9:00 or 09:00, as minutes since midnight.
func timeOfDay(text string) (int, bool) {
	hourText, minuteText, _ := strings.Cut(text, ":")
	hour, okHour := number(hourText)
	minute, okMinute := number(minuteText)

	return hour*60 + minute, okHour && okMinute && hour < 24 && minute < 60 && len(minuteText) == 2
}

func isOrdinal(word string) bool {
	switch word {
	case "1st", "2nd", "3rd", "4th", "5th", "first", "second", "third", "fourth", "fifth":
		return true
	default:
		return false
	}
}
