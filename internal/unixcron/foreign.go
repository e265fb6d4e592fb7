package unixcron

import (
	"strconv"
	"strings"
)

// foreign recognises what Quartz, Jenkins and others write in a field and unix-cron cannot say. Where nothing says the same, the
// mend fires on more days and the reason leaves the choice among them to the work.
func (f field) foreign(text string) *fault {
	if strings.Contains(text, "–") {
		return &fault{
			at: strings.Index(text, "–"), text: "–", reason: "is a dash, ranges take a hyphen", mend: strings.ReplaceAll(text, "–", "-"),
		}
	}

	at := 0

	for entry := range strings.SplitSeq(text, ",") {
		if wrong := f.quartz(entry); wrong != nil {
			wrong.at, wrong.text = at, entry
			if wrong.mend != "" {
				wrong.mend = text[:at] + wrong.mend + text[at+len(entry):]
			}

			return wrong
		}

		at += len(entry) + 1
	}

	return nil
}

func (f field) quartz(entry string) *fault {
	base, step, stepped := strings.Cut(entry, "/")
	switch {
	case base == "?" && stepped:
		return &fault{reason: "begins with the ? of Quartz, unix-cron has *", mend: "*/" + step}
	case base == "?":
		return &fault{reason: "is the ? of Quartz, unix-cron has *", mend: "*"}
	case base == "H" && stepped:
		return &fault{reason: "begins with the H of Jenkins, unix-cron picks no time itself", mend: "*/" + step}
	case base == "H" || strings.HasPrefix(base, "H("):
		return &fault{reason: "is the H of Jenkins, unix-cron picks no time itself", allowed: f.allowed}
	}

	switch f.index {
	case dayField:
		return f.quartzDay(strings.ToUpper(entry))
	case weekField:
		return f.quartzWeekday(strings.ToUpper(entry))
	default:
		return nil
	}
}

func (f field) quartzDay(entry string) *fault {
	switch {
	case entry == "L" || entry == "LW" || strings.HasPrefix(entry, "L-"):
		return &fault{
			reason:  "asks for the last day of the month (L), which unix-cron cannot say: fire on the last days and let the work choose",
			allowed: f.allowed, mend: "28-31",
		}
	case strings.HasSuffix(entry, "W"):
		wrong := &fault{
			reason:  "asks for the nearest weekday (W), which unix-cron cannot say: fire on the days around and let the work choose",
			allowed: f.allowed,
		}

		if day, ok := number(entry[:len(entry)-1]); ok && day >= f.low && day <= f.high {
			low, high := max(day-1, f.low), min(day+1, f.high)
			if day == f.low {
				high = day + 2
			}

			wrong.mend = strconv.Itoa(low) + "-" + strconv.Itoa(high)
		}

		return wrong
	default:
		return nil
	}
}

func (f field) quartzWeekday(entry string) *fault {
	if entry == "L" {
		return &fault{reason: "is the L of Quartz, the last day of its week: Saturday", allowed: f.allowed, mend: "6"}
	}

	if day, _, found := strings.Cut(entry, "#"); found {
		return f.choice(day, "asks for one week of the month (#), which unix-cron cannot say: fire every week and let the work choose")
	}

	if day, found := strings.CutSuffix(entry, "L"); found {
		return f.choice(day, "asks for the last week of the month (L), which unix-cron cannot say: fire every week and let the work choose")
	}

	return nil
}

// choice mends to the day alone, if it is one.
func (f field) choice(day, reason string) *fault {
	wrong := &fault{reason: reason, allowed: f.allowed}

	if value, ok := number(day); ok && value <= f.high {
		wrong.mend = day
	} else if short := shortName(day); isNameOf(f.names, short) {
		wrong.mend = short
	}

	return wrong
}
