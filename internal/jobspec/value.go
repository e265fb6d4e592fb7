package jobspec

// Value is an attribute as a plan sees it: unset, not known until apply, or known. The zero Value is unset.
type Value[T any] struct {
	state state
	v     T
}

type state uint8

const (
	unset state = iota
	unknown
	known
)

// Unset is a value that the configuration leaves out.
func Unset[T any]() Value[T] { return Value[T]{} }

// Unknown is a value that is set but not known before apply.
func Unknown[T any]() Value[T] { return Value[T]{state: unknown} }

// Known is a value that is set to v.
func Known[T any](v T) Value[T] { return Value[T]{state: known, v: v} }

// IsSet says whether the configuration gives the value, known or not.
func (v Value[T]) IsSet() bool { return v.state != unset }

// IsUnknown says whether the value is given but not known before apply.
func (v Value[T]) IsUnknown() bool { return v.state == unknown }

// IsKnown says whether the value is given and known.
func (v Value[T]) IsKnown() bool { return v.state == known }

// Get returns the value and true, or the zero T and false when it is unset or unknown.
func (v Value[T]) Get() (T, bool) { return v.v, v.state == known }

// OrZero returns the value, or the zero T when it is unset or unknown.
func (v Value[T]) OrZero() T { return v.v }

// Or is v, or Known(fallback) when v is unset. An unknown value stays unknown.
func (v Value[T]) Or(fallback T) Value[T] { return v.OrValue(Known(fallback)) }

// OrValue is v, or fallback when v is unset. An unknown value stays unknown.
func (v Value[T]) OrValue(fallback Value[T]) Value[T] {
	if v.state == unset {
		return fallback
	}
	return v
}
