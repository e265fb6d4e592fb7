package spannerclaim

import (
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/spanner"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// columns are the columns of a record in the order in which values gives and snapshot reads them.
func columns() []string {
	return []string{
		"id", "status", "attempt_id", "attempt", "counted", "rev", "written_at", "lease", "lease_expires", "expire_at", "claimed_at",
		"holder", "run", "last_error", "fingerprint", "result",
	}
}

// writtenAt is the column that holds the commit timestamp.
const writtenAt = "written_at"

// values are the columns of a record to be written.
func values(id string, r claim.Record) []any {
	return []any{
		id, string(r.Status), r.AttemptID, int64(r.Attempt), int64(r.Counted), r.Rev, spanner.CommitTimestamp, r.Lease.Microseconds(),
		nullTime(r.LeaseExpires), nullTime(r.ExpireAt), nullTime(r.ClaimedAt), nullString(r.Holder), nullString(r.Run),
		nullString(r.LastError), nullString(r.Fingerprint), r.Result,
	}
}

// updateStatement replaces the record of one version.
func updateStatement(table string) string {
	set := make([]string, 0, len(columns()))

	for _, column := range columns()[1:] {
		if column == writtenAt {
			set = append(set, column+" = PENDING_COMMIT_TIMESTAMP()")
		} else {
			set = append(set, column+" = @"+column)
		}
	}

	return fmt.Sprintf("UPDATE `%s` SET %s WHERE id = @id AND attempt_id = @old_attempt_id AND rev = @old_rev", table, strings.Join(set, ", "))
}

// updateParams are the parameters of updateStatement; ok is false for a version that no record of this store has.
func updateParams(id string, old claim.Version, r claim.Record) (params map[string]any, ok bool) {
	attemptID, rev, ok := driver.SplitVersion(old)
	params = map[string]any{"old_attempt_id": attemptID, "old_rev": rev}

	given := values(id, r)
	for i, column := range columns() {
		if column != writtenAt {
			params[column] = given[i]
		}
	}

	return params, ok
}

// snapshot reads a row, at the store's time now.
func snapshot(row *spanner.Row, now time.Time) (claim.Snapshot, error) {
	var (
		id, status, attemptID                   string
		attempt, counted, rev, lease            int64
		written                                 time.Time
		leaseExpires, expire, claimed           spanner.NullTime
		holder, runName, lastError, fingerprint spanner.NullString
		result                                  []byte
	)

	if err := row.Columns(&id, &status, &attemptID, &attempt, &counted, &rev, &written, &lease, &leaseExpires, &expire, &claimed,
		&holder, &runName, &lastError, &fingerprint, &result); err != nil {
		return claim.Snapshot{}, fmt.Errorf("read a row: %w", err)
	}

	// Fields of SQL NULL hold the zero value.
	r := driver.Normal(claim.Record{
		Status: claim.Status(status), AttemptID: attemptID, Attempt: int(attempt), Counted: int(counted), Rev: rev,
		Lease: time.Duration(lease) * time.Microsecond, LeaseExpires: leaseExpires.Time, ExpireAt: expire.Time, ClaimedAt: claimed.Time,
		Holder: holder.StringVal, Run: runName.StringVal, LastError: lastError.StringVal, Fingerprint: fingerprint.StringVal,
		Result: result,
	})

	return claim.Snapshot{ID: id, Record: r, Version: r.Version(), Written: written.UTC(), Now: now.UTC()}, nil
}

func nullTime(t time.Time) spanner.NullTime { return spanner.NullTime{Time: t, Valid: !t.IsZero()} }

func nullString(s string) spanner.NullString { return spanner.NullString{StringVal: s, Valid: s != ""} }
