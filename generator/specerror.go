package generator

import (
	"fmt"
	"strings"
)

// SpecError says which field of a spec cannot be used, and what mends it.
type SpecError struct {
	// Field is the field's name as specs spell it: name, jobs[1], policy.lease.
	Field string
	// Value is the refused text. Empty: nothing was given, or it may hold a secret and is not repeated.
	Value string
	// Reason says what is wrong or what is allowed.
	Reason string
}

// Error names the field, the value and the reason.
func (e *SpecError) Error() string {
	if e.Value == "" {
		return e.Field + ": " + e.Reason
	}
	return e.Field + " " + quote(e.Value) + ": " + e.Reason
}

// quote bounds what of a refused value is repeated.
func quote(s string) string {
	const most = 100
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}
