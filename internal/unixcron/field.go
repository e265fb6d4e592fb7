package unixcron

import (
	"strconv"
	"strings"
)

// field is one of the five places of an expression.
type field struct {
	index     int
	name      string
	low, high int
	names     string // upper case, three letters each, for the values from low on; empty: the field has no names
	allowed   string
}

const (
	monthNames = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	dayNames   = "SUNMONTUEWEDTHUFRISAT"

	nameLength = 3
)

const (
	minuteField = iota
	hourField
	dayField
	monthField
	weekField
	fieldCount
)

func fieldAt(index int) field {
	switch index {
	case minuteField:
		return field{index: minuteField, name: "minute", low: 0, high: 59, allowed: "0-59"}
	case hourField:
		return field{index: hourField, name: "hour", low: 0, high: 23, allowed: "0-23"}
	case dayField:
		return field{index: dayField, name: "day of month", low: 1, high: 31, allowed: "1-31"}
	case monthField:
		return field{index: monthField, name: "month", low: 1, high: 12, names: monthNames, allowed: "1-12 or JAN-DEC"}
	default:
		return field{index: weekField, name: "day of week", low: 0, high: 7, names: dayNames, allowed: "0-7 or SUN-SAT, 0 and 7 are Sunday"}
	}
}

// fault is what is wrong with a part of a field.
type fault struct {
	at      int    // byte offset of text in the field
	text    string // the part at fault
	reason  string
	allowed string
	mend    string // the whole field, mended; empty: no proposal
	belongs int    // the field that text is a name of, if it is not this one; zero: none
}

// parse reads a field. full: no value is left out by intent, since an entry is * or */1.
func (f field) parse(text string) (values uint64, full bool, wrong *fault) {
	if wrong := f.foreign(text); wrong != nil {
		return 0, false, wrong
	}

	at := 0

	for entry := range strings.SplitSeq(text, ",") {
		low, high, step, wrong := f.entry(entry)
		if wrong != nil {
			wrong.at += at
			if wrong.mend != "" || wrong.text == "" {
				wrong.mend = strings.Trim(text[:at]+wrong.mend+text[at+len(entry):], ",")
				wrong.mend = strings.ReplaceAll(wrong.mend, ",,", ",")
			}

			return 0, false, wrong
		}

		full = full || entry == "*" || (strings.HasPrefix(entry, "*/") && step == 1)

		for value := low; value <= high; value += step {
			values |= 1 << value
		}

		at += len(entry) + 1
	}

	return values, full, nil
}

// entry reads one entry of a list: *, */n, a, a-b or a-b/n.
func (f field) entry(text string) (low, high, step int, wrong *fault) {
	if text == "" {
		return 0, 0, 0, &fault{reason: "an entry of the list is empty", allowed: f.allowed}
	}

	base, stepText, stepped := strings.Cut(text, "/")

	low, high, wrong = f.span(base)
	if wrong != nil {
		if wrong.mend != "" && stepped {
			wrong.mend = stepEach(wrong.mend, stepText)
		}

		return 0, 0, 0, wrong
	}

	if !stepped {
		return low, high, 1, nil
	}

	top := f.high
	allowed := "1-" + strconv.Itoa(top)

	step, ok := number(stepText)

	switch {
	case !ok && stepText == "":
		return 0, 0, 0, &fault{at: len(base), text: "/", reason: "lacks the step after it", allowed: allowed}
	case !ok || step == 0:
		return 0, 0, 0, &fault{at: len(base) + 1, text: stepText, reason: "is not a step", allowed: allowed}
	case step > top:
		return 0, 0, 0, &fault{
			at: len(base) + 1, text: stepText, reason: "as a step goes beyond the field, only its first value would be left",
			allowed: allowed, mend: strconv.Itoa(low),
		}
	case base != "*" && !strings.Contains(base, "-"):
		return 0, 0, 0, &fault{
			text: text, reason: "has a step on a single value, steps follow * or a range", allowed: f.allowed,
			mend: base + "-" + strconv.Itoa(f.last()) + "/" + stepText,
		}
	}

	return low, high, step, nil
}

// span reads *, a or a-b.
func (f field) span(text string) (low, high int, wrong *fault) {
	if text == "*" {
		return f.low, f.last(), nil
	}

	from, to, ranged := strings.Cut(text, "-")

	switch {
	case text == "":
		return 0, 0, &fault{reason: "a value or * is missing before the step", allowed: f.allowed, mend: "*"}
	case ranged && (from == "" || to == ""):
		return 0, 0, &fault{text: text, reason: "lacks a value beside its hyphen", allowed: f.allowed}
	}

	low, wrong = f.value(from)
	if wrong != nil {
		if wrong.mend != "" && ranged {
			wrong.mend += "-" + to
		}

		return 0, 0, wrong
	}

	if !ranged {
		return low, low, nil
	}

	high, wrong = f.value(to)
	if wrong != nil {
		wrong.at += len(from) + 1
		if wrong.mend == "0" {
			wrong.mend = strconv.Itoa(f.high) // a range up to 24 means to the end of the day
		}

		if wrong.mend != "" {
			wrong.mend = from + "-" + wrong.mend
		}

		return 0, 0, wrong
	}

	if low > high {
		return 0, 0, &fault{
			text: text, reason: "is a range that runs backwards", allowed: f.allowed, mend: f.turned(low, high, from, to),
		}
	}

	return low, high, nil
}

// last is the greatest value that * stands for: 7 is a second name of Sunday.
func (f field) last() int {
	if f.high == 7 {
		return 6
	}

	return f.high
}

// turned spells a range that passes the end of the field, such as 22-2 or FRI-MON.
func (f field) turned(low, high int, from, to string) string {
	last := strconv.Itoa(f.last())
	first := strconv.Itoa(f.low)

	if f.names != "" && from[0] > '9' {
		last = f.names[len(f.names)-nameLength:]
		first = f.names[:nameLength]
	}

	head, tail := from+"-"+last, first+"-"+to
	if low == f.last() {
		head = from
	}

	if high == f.low {
		tail = to
	}

	return head + "," + tail
}

// value reads a number or a name.
func (f field) value(text string) (int, *fault) {
	if value, ok := number(text); ok {
		if value < f.low || value > f.high {
			return 0, &fault{text: text, reason: "is out of range", allowed: f.allowed, mend: f.midnight(text)}
		}

		return value, nil
	}

	if value, ok := f.named(text); ok {
		return value, nil
	}

	wrong := &fault{text: text, reason: "is not a value of this field", allowed: f.allowed}

	switch short := shortName(text); {
	case short == "":
	case !isNameOf(f.names, short):
		wrong.reason, wrong.belongs = "is the name of a month", monthField
		if isNameOf(dayNames, short) {
			wrong.reason, wrong.belongs = "is the name of a day of the week", weekField
		}
	case len(text) > nameLength:
		wrong.reason, wrong.mend = "is not a name, names have three upper-case letters", short
	default:
		wrong.reason, wrong.mend = "is not in upper case", short
	}

	return 0, wrong
}

// midnight mends what people write for the end of the day or the hour.
func (f field) midnight(text string) string {
	if (f.high == 23 && text == "24") || (f.high == 59 && text == "60") {
		return "0"
	}

	return ""
}

func (f field) named(text string) (int, bool) {
	if !isNameOf(f.names, text) {
		return 0, false
	}

	return strings.Index(f.names, text)/nameLength + f.low, true
}

// isNameOf reports whether text is one of the three-letter names, which are laid end to end.
func isNameOf(names, text string) bool {
	if len(text) != nameLength {
		return false
	}

	for i := 0; i < len(names); i += nameLength {
		if names[i:i+nameLength] == text {
			return true
		}
	}

	return false
}

// shortName is the upper-case short form of the English name of a month or a day, however it is written; empty: it is none.
func shortName(text string) string {
	upper := strings.ToUpper(text)
	if isNameOf(monthNames, upper) || isNameOf(dayNames, upper) {
		return upper
	}

	if len(upper) <= nameLength {
		return ""
	}

	short := upper[:nameLength]

	for _, long := range [...]string{
		"JANUARY", "FEBRUARY", "MARCH", "APRIL", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "SEPT", "OCTOBER", "NOVEMBER", "DECEMBER",
		"SUNDAY", "MONDAY", "TUESDAY", "TUES", "WEDNESDAY", "THURSDAY", "THURS", "THUR", "FRIDAY", "SATURDAY",
	} {
		if long == upper {
			return short
		}
	}

	return ""
}

// number reads decimal digits without a sign. More digits than any value has are out of range, not an overflow.
func number(text string) (int, bool) {
	value := 0

	for _, digit := range []byte(text) {
		if digit < '0' || digit > '9' {
			return 0, false
		}

		value = min(value*10+int(digit-'0'), 1<<20)
	}

	return value, text != ""
}

// stepEach puts a step behind the ranges of a mended span.
func stepEach(span, step string) string {
	if strings.Contains(span, ",") {
		return ""
	}

	return span + "/" + step
}
