// Package jobspec is the domain in plain Go: a scheduled job as declared, the values that follow from the declaration, and the
// proofs that one scheduled run has one effect and is not lost.
//
// Three questions are answered here and nowhere else:
//
//   - [Derive]: what holds for the job, with every default filled in. A derived value is known exactly when the values it
//     follows from are; otherwise it is unknown, never guessed.
//   - [Check]: what cannot work. Each [Finding] names its rule, the attribute, and the smallest setting that mends it.
//   - [Rules]: which rules exist. Plan-time diagnostics, the command `check`, the documentation and the attribute
//     `accepted_risks` share these ids.
//
// # Letters
//
// The comments use the letters of the design:
//
//	D    attempt deadline: how long Cloud Scheduler waits for an answer
//	W    the longest an attempt may live (request_timeout, default D)
//	L    lease: how long a claim holds without news of its holder
//	H    the longest a dead attempt can block its run: L, or W + L when the lease is renewed
//	R    retry_count
//	M    max_retry_duration, counted from the first attempt; 0: no limit of its own
//	B_k  the k-th backoff, k from 0
//	S_k  B_0 + … + B_{k-1}: the start of retry k when each attempt before it failed at once
//
// The package reads no clock, no network and no file. Where the present time matters (clock changes of a time zone) it comes in
// with the job.
package jobspec
