// Package planlint judges what `terraform show -json` prints of a plan or a state: which scheduled jobs can run twice, or not at
// all, once it is applied.
//
// It reads the jobs of this provider and of hashicorp/google. Each becomes a [jobspec.Job] and is judged by the rules of jobspec,
// none of which is written a second time here. What this package adds are the rules that need more than one resource, or the state
// before and after a change; [Rules] lists both kinds.
//
// Three states of a value are kept apart: unset, known, and known only after apply. A rule that needs a value of the third kind
// neither passes nor fails: it is listed in [Result.Waiting]. Values that Terraform marks as sensitive are judged, but never
// repeated: a message that would depend on one is replaced by the rule's title.
//
// A job of hashicorp/google says nothing about the lease of the handler that it calls, unless its headers carry the policy of this
// provider. Without a lease nothing is claimed about it: the rules that need one give at most a note, which says what would hold
// under the default lease of a generated handler.
package planlint
