// Package generator turns the description of a handler into a Go module that serves it.
//
// [Plan] is pure: from a [Spec] it makes the files, sorted by path, and touches nothing. [Write] brings them into a folder with
// care. Files ending in _gen.go, and the manifest, are ours and are rewritten; every other file is the user's: it is written once
// and never touched again. The manifest records the path and hash of what is ours, so that a file which somebody edited is never
// overwritten silently, and a folder that belongs to another handler is refused.
//
// A kind of handler is a row in the table of kinds and the template folders it names; a store is a row in the table of stores.
package generator
