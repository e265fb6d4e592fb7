package unixcron

import (
	"strconv"
	"strings"
)

// Kind tells the ways in which an expression is refused apart.
type Kind string

const (
	// Syntax: the expression is not unix-cron.
	Syntax Kind = "syntax"
	// NeverFires: the expression is unix-cron, but names only days that no calendar holds.
	NeverFires Kind = "never fires"
	// Groc: the expression is written in groc, the schedule language of App Engine.
	Groc Kind = "groc"
)

// Error says why an expression is refused, where, and what to write instead.
type Error struct {
	Kind Kind
	// Expr is the whole expression, as given.
	Expr string
	// Field is the name of the field at fault: minute, hour, day of month, month or day of week. Empty: the expression as a whole.
	Field string
	// Column is where Text begins in Expr, in characters counted from 1. Zero: nowhere in particular.
	Column int
	// Text is the part at fault. Empty: nothing was written where something must be, or the whole expression is at fault.
	Text string
	// Reason continues the sentence that Text begins.
	Reason string
	// Allowed is what may be written instead of Text. Empty: Reason has said it.
	Allowed string
	// Suggestion is a whole expression that [Parse] accepts. Empty: there is none that is likely to be meant.
	Suggestion string
}

// longestQuote is how many bytes of an expression a message repeats.
const longestQuote = 120

// Error is one sentence: the expression, the place, the fault, the allowed values and the mend, as far as each is known.
func (e *Error) Error() string {
	var b strings.Builder

	b.WriteString("unix-cron " + quote(e.Expr) + ": ")

	if e.Field != "" {
		b.WriteString(e.Field + ", ")
	}

	if e.Column > 0 {
		b.WriteString("column " + strconv.Itoa(e.Column) + ": ")
	}

	if e.Text != "" {
		b.WriteString(quote(e.Text) + " ")
	}

	b.WriteString(e.Reason)

	if e.Allowed != "" {
		b.WriteString("; allowed: " + e.Allowed)
	}

	if e.Suggestion != "" {
		b.WriteString("; write " + quote(e.Suggestion))
	}

	return b.String()
}

func quote(s string) string {
	if len(s) > longestQuote {
		return strconv.Quote(strings.ToValidUTF8(s[:longestQuote], "")) + "…"
	}

	return strconv.Quote(s)
}
