package unixcron

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// IsGroc reports whether an expression is meant as groc, the schedule language of App Engine that Cloud Scheduler also takes: every
// 5 minutes, every mon,wed 9:00, 1st monday of jan 17:00. It need not be correct groc.
func IsGroc(expr string) bool {
	words := strings.Fields(strings.ToLower(expr))
	if len(words) < 2 {
		return false
	}

	if words[0] == "every" {
		return true
	}

	first, _, _ := strings.Cut(words[0], ",")
	_, isNumber := number(first)

	return isOrdinal(first) || (isNumber && words[1] == "of")
}

// FromGroc is the unix-cron expression with the grid of a groc one, if there is one. The runs of an interval without from, to or
// synchronized have no fixed grid: they count from the run before. They get the grid that synchronized would give them.
func FromGroc(expr string) (string, bool) {
	words := grocWords(expr)
	if len(words) < 2 {
		return "", false
	}

	var found string

	if words[0] == "every" && isPeriod(words[1]) {
		words = slices.Insert(words, 1, "1")
	}

	if count, ok := number(words[1]); ok && words[0] == "every" {
		found = fromInterval(count, words[2:])
	} else {
		found = fromDays(words)
	}

	return found, found != ""
}

func grocError(expr string) *Error {
	wrong := &Error{Kind: Groc, Expr: expr, Reason: "is groc, whose equal in unix-cron does not exist"}

	if equal, ok := FromGroc(expr); ok {
		wrong.Reason, wrong.Suggestion = "is groc, runs need the fixed grid of unix-cron", equal
	}

	return wrong
}

// grocWords splits groc into lower-case words; blanks beside a comma part nothing.
func grocWords(expr string) []string {
	var words []string

	joined := false

	for next := range strings.FieldsSeq(strings.ToLower(expr)) {
		if joined || (strings.HasPrefix(next, ",") && len(words) > 0) {
			words[len(words)-1] += next
		} else {
			words = append(words, next)
		}

		joined = strings.HasSuffix(next, ",")
	}

	return words
}

func isPeriod(word string) bool { return periodMinutes(word) != 0 }

// periodMinutes is the length of a period of groc; zero: it is none.
func periodMinutes(word string) int {
	switch word {
	case "minute", "minutes", "min", "mins":
		return 1
	case "hour", "hours":
		return 60
	default:
		return 0
	}
}

// fromInterval reads what follows "every N": a period, then nothing, synchronized, or from A to B.
func fromInterval(count int, words []string) string {
	if len(words) == 0 || count == 0 {
		return ""
	}

	step := count * periodMinutes(words[0])

	switch {
	case step == 0:
		return ""
	case len(words) == 1, len(words) == 2 && words[1] == "synchronized":
		return everyMinutes(step)
	case len(words) == 5 && words[1] == "from" && words[3] == "to":
		from, okFrom := timeOfDay(words[2])
		to, okTo := timeOfDay(words[4])

		if okFrom && okTo {
			return between(from, to, step)
		}
	}

	return ""
}

// everyMinutes is the expression that fires every so many minutes from midnight; empty: no single one does.
func everyMinutes(step int) string {
	switch {
	case step == 1:
		return "* * * * *"
	case step > 0 && step < 60 && 60%step == 0:
		return "*/" + strconv.Itoa(step) + " * * * *"
	case step == 60:
		return "0 * * * *"
	case step == minutesPerDay:
		return "0 0 * * *"
	case step > 60 && step%60 == 0 && minutesPerDay%step == 0:
		return "0 */" + strconv.Itoa(step/60) + " * * *"
	default:
		return ""
	}
}

// between is the expression that fires every step minutes of every day from one time of day to another, both included; empty: no
// single one does, since in unix-cron every hour has the same minutes.
func between(from, to, step int) string {
	if to < from {
		to += minutesPerDay
	}

	var g grid

	runs := 0

	for minute := from; minute <= to; minute += step {
		g.hours |= 1 << (minute % minutesPerDay / 60)
		g.minutes |= 1 << (minute % 60)
		runs++
	}

	if bits.OnesCount32(g.hours)*bits.OnesCount64(g.minutes) != runs {
		return ""
	}

	return spell(g.minutes, 0, 59) + " " + spell(uint64(g.hours), 0, 23) + " * * *"
}

// spell writes a set of values of a field in the shortest usual way.
func spell(values uint64, low, high int) string {
	set := members(values)
	first, last := set[0], set[len(set)-1]
	step := evenStep(set)

	switch {
	case len(set) == high-low+1:
		return "*"
	case len(set) < 3 || step == 0:
		words := make([]string, 0, len(set))
		for _, value := range set {
			words = append(words, strconv.Itoa(value))
		}

		return strings.Join(words, ",")
	case step == 1:
		return strconv.Itoa(first) + "-" + strconv.Itoa(last)
	case first == low && last+step > high:
		return "*/" + strconv.Itoa(step)
	default:
		return strconv.Itoa(first) + "-" + strconv.Itoa(last) + "/" + strconv.Itoa(step)
	}
}

// members lists the values of a set in order.
func members(values uint64) []int {
	set := make([]int, 0, bits.OnesCount64(values))
	for ; values != 0; values &= values - 1 {
		set = append(set, bits.TrailingZeros64(values))
	}

	return set
}

// evenStep is the distance between neighbours of an ordered set, if it is the same for all; zero: it is not, or there are none.
func evenStep(set []int) int {
	step := 0

	for i := 1; i < len(set); i++ {
		if i == 1 {
			step = set[1] - set[0]
		} else if set[i]-set[i-1] != step {
			return 0
		}
	}

	return step
}
