// Package scale measures what a thousand jobs cost: plan, apply and refresh by a real command line tool and the provider's own binary,
// against a local cloud. It has benchmarks only:
//
//	go test -run '^$' -bench . -benchtime 1x ./provider/internal/scale
//
// IDEMPOTENT_SCALE_JOBS sets another number of jobs. IDEMPOTENT_SCALE_GOOGLE names a binary of hashicorp/google; its jobs are then
// planned in the same run, and the ratio of the two is reported.
package scale
