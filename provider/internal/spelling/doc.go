// Package spelling keeps two spellings of one value from looking like a change.
//
// Google's server rewrites what it is sent (`180s` for `3m`, `Etc/UTC` for `UTC`) and people rewrite their configuration. For the
// first, [Type] is an attribute type whose values compare by meaning; for the second, [Keep] is a plan modifier that retains what
// the state says when the configuration means the same. Neither knows the rules of the values themselves: a text that cannot be
// read is never equal to another, and what is wrong with it is said elsewhere.
package spelling
