package driver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// Normal is the record as stores keep it: times in UTC, times and lease to the microsecond (the lease rounded up, so that it never
// ends before its holder thinks), an empty result as none.
func Normal(r claim.Record) claim.Record {
	r.LeaseExpires, r.ExpireAt, r.ClaimedAt = normalTime(r.LeaseExpires), normalTime(r.ExpireAt), normalTime(r.ClaimedAt)

	if rest := r.Lease % Precision; rest > 0 {
		r.Lease += Precision - rest
	}

	if len(r.Result) == 0 {
		r.Result = nil
	}

	return r
}

func normalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}

	return t.UTC().Truncate(Precision)
}

// SplitVersion is the attempt id and revision of a version that claim.Record.Version made. ok is false for any other.
func SplitVersion(v claim.Version) (attemptID string, rev int64, ok bool) {
	cut := strings.LastIndexByte(string(v), '/')
	if cut < 0 {
		return "", 0, false
	}

	rev, err := strconv.ParseInt(string(v[cut+1:]), 10, 64)

	return string(v[:cut]), rev, err == nil
}

// CheckResult refuses a result of more than most bytes.
func CheckResult(r claim.Record, most int) error {
	if len(r.Result) > most {
		return fmt.Errorf("%w: %d bytes, the store keeps %d", claim.ErrTooLarge, len(r.Result), most)
	}

	return nil
}

// Written is the snapshot of a record that was just written: it is as old as the answer.
func Written(id string, r claim.Record, at time.Time) claim.Snapshot {
	return claim.Snapshot{ID: id, Record: r, Version: r.Version(), Written: at, Now: at}
}

// Lost is what Insert and Swap return when another write was there first: the record as it is now, which may be none.
func Lost(ctx context.Context, s claim.Store, id string) (found claim.Snapshot, written bool, err error) {
	found, err = s.Get(ctx, id)
	if errors.Is(err, claim.ErrNotFound) {
		err = nil
	}

	return found, false, err
}

// As finds the store of type S behind s, through wrappers that have Unwrap.
func As[S claim.Store](s claim.Store) (S, bool) {
	for {
		if found, ok := s.(S); ok {
			return found, true
		}

		wrapper, ok := s.(interface{ Unwrap() claim.Store })
		if !ok {
			var none S

			return none, false
		}

		s = wrapper.Unwrap()
	}
}

// Attempt finds the attempt in a work's context and the store of type S that holds its claim, for CompleteTx of the package name.
func Attempt[S claim.Store](attempt *claim.Attempt, name string) (S, error) {
	store, ok := As[S](attempt.Store())
	if !ok {
		return store, fmt.Errorf("%s.CompleteTx: the claim of this attempt is held in %s, not in a store of this package", name,
			attempt.Store().Caps().Store)
	}

	return store, nil
}
