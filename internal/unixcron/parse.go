package unixcron

import (
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Parse reads a unix-cron expression. The error, if any, is an [*Error].
func Parse(expr string) (Schedule, error) {
	schedule, wrong := parse(expr, mendDepth)
	if wrong != nil {
		return Schedule{}, wrong
	}

	return schedule, nil
}

// mendDepth is how many mistakes of one expression a suggestion mends.
const mendDepth = 12

// parse reads an expression; depth is how many more mends a suggestion may take, 0: none.
func parse(expr string, depth int) (Schedule, *Error) {
	if wrong := wholly(expr); wrong != nil {
		return Schedule{}, wrong.finish(depth)
	}

	words := split(expr)
	if wrong := miscounted(expr, words); wrong != nil {
		return Schedule{}, wrong.finish(depth)
	}

	schedule := Schedule{expr: expr}

	for index, word := range words {
		f := fieldAt(index)

		values, full, wrong := f.parse(word.text)
		if wrong != nil {
			found := &Error{
				Kind: Syntax, Expr: expr, Field: f.name, Column: column(expr, word.at+wrong.at), Text: wrong.text,
				Reason: wrong.reason, Allowed: wrong.allowed,
			}

			switch {
			case wrong.mend != "":
				found.Suggestion = expr[:word.at] + wrong.mend + expr[word.at+len(word.text):]
			case wrong.belongs != 0:
				found.Suggestion = words.swapped(f, wrong.belongs)
			}

			return Schedule{}, found.finish(depth)
		}

		schedule.grid.set(index, values, full)
	}

	schedule.grid.byWeek = schedule.grid.days == allDays && schedule.grid.months == allMonths && schedule.grid.anyDay

	if wrong := neverFires(&schedule, words); wrong != nil {
		return Schedule{}, wrong.finish(depth)
	}

	return schedule, nil
}

func (g *grid) set(index int, values uint64, full bool) {
	switch index {
	case minuteField:
		g.minutes = values
	case hourField:
		g.hours = uint32(values)
	case dayField:
		g.days, g.anyDay = uint32(values), full
	case monthField:
		g.months = uint32(values)
	case weekField:
		g.weekly, g.anyWeek = uint32(values|values>>7)&allWeek, full
	}
}

// finish keeps a suggestion only as far as it can be mended into what Parse accepts.
func (e *Error) finish(depth int) *Error {
	if e.Suggestion == "" {
		return e
	}

	if depth == 0 {
		e.Suggestion = ""

		return e
	}

	if _, wrong := parse(e.Suggestion, depth-1); wrong != nil {
		e.Suggestion = wrong.Suggestion
	}

	return e
}

// word is a run of characters between blanks; at is its byte offset.
type word struct {
	at   int
	text string
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

type words []word

// in is the part of an expression from the first to the last word.
func (w words) in(expr string) string {
	last := w[len(w)-1]

	return expr[w[0].at : last.at+len(last.text)]
}

func split(expr string) words {
	var found words

	for at := 0; at < len(expr); {
		if isBlank(expr[at]) {
			at++

			continue
		}

		end := at
		for end < len(expr) && !isBlank(expr[end]) {
			end++
		}

		found = append(found, word{at: at, text: expr[at:end]})
		at = end
	}

	return found
}

// swapped is the expression with the words of a field and of the one that its names belong to exchanged; empty: the field does not
// take the other word. In minute and hour names are no slip of the place: nothing says what was meant there.
func (w words) swapped(f field, belongs int) string {
	if f.index < dayField {
		return ""
	}

	if _, _, wrong := f.parse(w[belongs].text); wrong != nil {
		return ""
	}

	texts := make([]string, 0, fieldCount)
	for _, each := range w {
		texts = append(texts, each.text)
	}

	texts[f.index], texts[belongs] = texts[belongs], texts[f.index]

	return strings.Join(texts, " ")
}

// column counts characters, from 1, up to a byte offset.
func column(expr string, at int) int { return utf8.RuneCountInString(expr[:at]) + 1 }

// wholly finds what is wrong before there are fields to speak of.
func wholly(expr string) *Error {
	if strings.TrimSpace(expr) == "" {
		return &Error{
			Kind: Syntax, Expr: expr, Reason: "is empty, write five fields: minute, hour, day of month, month and day of week",
		}
	}

	if trimmed := strings.TrimSpace(expr); trimmed != expr {
		at := 0
		if strings.HasPrefix(expr, trimmed) {
			at = len(trimmed)
		}

		return &Error{
			Kind: Syntax, Expr: expr, Column: column(expr, at), Reason: "blank space around the five fields", Suggestion: trimmed,
		}
	}

	for at, c := range expr {
		if c != ' ' && c != '\t' && (unicode.IsSpace(c) || unicode.IsControl(c) || c == utf8.RuneError) {
			wrong := &Error{
				Kind: Syntax, Expr: expr, Column: column(expr, at), Text: string(c), Reason: "cannot be in a schedule, fields are parted by spaces",
			}

			if unicode.IsSpace(c) {
				wrong.Suggestion = strings.Join(strings.Fields(expr), " ")
			}

			return wrong
		}
	}

	if name, rest, found := strings.Cut(expr, "="); found && (name == "TZ" || name == "CRON_TZ") {
		zone, rest, _ := strings.Cut(rest, " ")

		return &Error{
			Kind: Syntax, Expr: expr, Column: 1, Text: name + "=" + zone,
			Reason: "sets a time zone, which is an argument of its own (time_zone)", Suggestion: strings.TrimSpace(rest),
		}
	}

	if expr[0] == '@' {
		return &Error{Kind: Syntax, Expr: expr, Column: 1, Text: expr, Reason: "is a macro, unix-cron has none", Suggestion: macro(expr)}
	}

	if IsGroc(expr) {
		return grocError(expr)
	}

	return nil
}

// macro is what a macro of other schedulers stands for.
func macro(expr string) string {
	name := strings.ToLower(expr)
	switch name {
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@monthly":
		return "0 0 1 * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@hourly":
		return "0 * * * *"
	case "@minutely":
		return "* * * * *"
	}

	if period, err := time.ParseDuration(strings.TrimPrefix(name, "@every ")); err == nil && period%time.Minute == 0 {
		return everyMinutes(int(period / time.Minute))
	}

	return ""
}

// miscounted finds a number of fields other than five.
func miscounted(expr string, words words) *Error {
	if len(words) == fieldCount {
		return nil
	}

	for _, w := range words {
		if len(words) > fieldCount && (strings.HasSuffix(w.text, ",") || strings.HasPrefix(w.text, ",")) {
			return &Error{
				Kind: Syntax, Expr: expr, Column: column(expr, w.at), Text: w.text,
				Reason: "has a blank beside its comma, lists are written without", Suggestion: closed(words),
			}
		}
	}

	if len(words) < fieldCount {
		return &Error{
			Kind: Syntax, Expr: expr, Field: fieldAt(len(words)).name, Column: column(expr, len(expr)),
			Reason: "is missing, there are " + strconv.Itoa(len(words)) + " fields where five must be", Allowed: fieldAt(len(words)).allowed,
		}
	}

	return surplus(expr, words)
}

// surplus tells seconds before the five fields and years behind them from what is simply too much.
func surplus(expr string, words words) *Error {
	wrong := &Error{Kind: Syntax, Expr: expr}
	excess, count := fieldCount, strconv.Itoa(len(words))

	switch year := isYear(words[len(words)-1].text); {
	case len(words) == fieldCount+1 && year:
		wrong.Reason = "is a sixth field, for years, which unix-cron does not have"
		wrong.Suggestion = words[:fieldCount].in(expr)
	case len(words) == fieldCount+1:
		excess = 0
		wrong.Reason = "is a sixth field, for seconds, which unix-cron does not have"
		wrong.Suggestion = words[1:].in(expr)
	case len(words) == fieldCount+2:
		wrong.Reason = "makes " + count + " fields, of which unix-cron does not have the first, for seconds, and the last, for years"
		wrong.Suggestion = words[1 : fieldCount+1].in(expr)
	default:
		wrong.Reason = "is one field too many, there are " + count + " where five must be"
	}

	wrong.Column, wrong.Text = column(expr, words[excess].at), words[excess].text

	return wrong
}

// isYear reports whether a field of Quartz names years: 2027, 2027-2030.
func isYear(text string) bool {
	_, ok := number(text[:min(4, len(text))])

	return ok && len(text) >= 4
}

// closed joins words that a blank beside a comma has parted.
func closed(words words) string {
	var b strings.Builder

	for i, w := range words {
		if i > 0 && !strings.HasSuffix(words[i-1].text, ",") && !strings.HasPrefix(w.text, ",") {
			b.WriteByte(' ')
		}

		b.WriteString(w.text)
	}

	return b.String()
}

// neverFires finds days of the month that none of the months has, where no day of the week saves the schedule.
func neverFires(s *Schedule, words words) *Error {
	if !s.grid.anyDay && !s.grid.anyWeek {
		return nil
	}

	longest := uint32(0)

	for month := uint32(1); month <= 12; month++ {
		if s.grid.months>>month&1 != 0 {
			longest = max(longest, lengthOf(2000, month))
		}
	}

	if uint32(bits.TrailingZeros32(s.grid.days)) <= longest {
		return nil
	}

	kept := longest
	if longest == 29 {
		kept = 28 // what is meant by the 30th of February is its last day, in every year
	}

	day := words[dayField]

	return &Error{
		Kind: NeverFires, Expr: s.expr, Field: fieldAt(dayField).name, Column: column(s.expr, day.at), Text: day.text,
		Reason:     "never comes, the longest month of " + quote(words[monthField].text) + " has " + strconv.Itoa(int(longest)) + " days",
		Allowed:    "1-" + strconv.Itoa(int(longest)),
		Suggestion: s.expr[:day.at] + strconv.Itoa(int(kept)) + s.expr[day.at+len(day.text):],
	}
}
