package firestoreclaim

import (
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// The fields of a document. status, attempt_id, lease_expires and expire_at are those of Google's published sample.
const (
	fieldStatus       = "status"
	fieldAttemptID    = "attempt_id"
	fieldAttempt      = "attempt"
	fieldCounted      = "counted"
	fieldRev          = "rev"
	fieldLease        = "lease" // microseconds
	fieldLeaseExpires = "lease_expires"
	fieldExpireAt     = "expire_at"
	fieldClaimedAt    = "claimed_at"
	fieldHolder       = "holder"
	fieldRun          = "run"
	fieldLastError    = "last_error"
	fieldFingerprint  = "fingerprint"
	fieldResult       = "result"
)

// optional are the fields that a document lacks when they hold nothing: they would cost an index entry each.
var optional = []string{
	fieldLeaseExpires, fieldExpireAt, fieldClaimedAt, fieldHolder, fieldRun, fieldLastError, fieldFingerprint, fieldResult,
}

// fields is the document of a record.
func fields(r claim.Record) map[string]any {
	doc := map[string]any{
		fieldStatus:    string(r.Status),
		fieldAttemptID: r.AttemptID,
		fieldAttempt:   r.Attempt,
		fieldCounted:   r.Counted,
		fieldRev:       r.Rev,
		fieldLease:     r.Lease.Microseconds(),
	}

	for name, t := range map[string]time.Time{
		fieldLeaseExpires: r.LeaseExpires, fieldExpireAt: r.ExpireAt, fieldClaimedAt: r.ClaimedAt,
	} {
		if !t.IsZero() {
			doc[name] = t
		}
	}

	for name, text := range map[string]string{
		fieldHolder: r.Holder, fieldRun: r.Run, fieldLastError: r.LastError, fieldFingerprint: r.Fingerprint,
	} {
		if text != "" {
			doc[name] = text
		}
	}

	if len(r.Result) > 0 {
		doc[fieldResult] = r.Result
	}

	return doc
}

// updates replaces the fields of a record and removes those that it lacks; fields of other code stay.
func updates(r claim.Record) []firestore.Update {
	doc := fields(r)
	changes := make([]firestore.Update, 0, len(doc)+len(optional))

	for name, value := range doc {
		changes = append(changes, firestore.Update{Path: name, Value: value})
	}

	for _, name := range optional {
		if _, set := doc[name]; !set {
			changes = append(changes, firestore.Update{Path: name, Value: firestore.Delete})
		}
	}

	return changes
}

// snapshot reads a document. A document that does not exist is the zero Version.
func snapshot(doc *firestore.DocumentSnapshot) (claim.Snapshot, error) {
	s := claim.Snapshot{Now: doc.ReadTime.UTC()}
	if !doc.Exists() {
		return s, nil
	}

	s.ID, s.Written, s.Version = doc.Ref.ID, doc.UpdateTime.UTC(), version(doc.UpdateTime)

	d := decoder{data: doc.Data()}
	s.Record = claim.Record{
		Status:       claim.Status(field[string](&d, fieldStatus)),
		AttemptID:    field[string](&d, fieldAttemptID),
		Attempt:      int(field[int64](&d, fieldAttempt)),
		Counted:      int(field[int64](&d, fieldCounted)),
		Rev:          field[int64](&d, fieldRev),
		Lease:        time.Duration(field[int64](&d, fieldLease)) * time.Microsecond,
		LeaseExpires: field[time.Time](&d, fieldLeaseExpires),
		ExpireAt:     field[time.Time](&d, fieldExpireAt),
		ClaimedAt:    field[time.Time](&d, fieldClaimedAt),
		Holder:       field[string](&d, fieldHolder),
		Run:          field[string](&d, fieldRun),
		LastError:    field[string](&d, fieldLastError),
		Fingerprint:  field[string](&d, fieldFingerprint),
		Result:       field[[]byte](&d, fieldResult),
	}

	if d.err != nil {
		return s, fmt.Errorf("document %s is not a claim: %w", doc.Ref.ID, d.err)
	}

	return s, nil
}

// decoder takes fields out of a document and collects what does not fit.
type decoder struct {
	data map[string]any
	err  error
}

// field is the value of a field, zero where the document lacks it or holds null.
func field[T any](d *decoder, name string) T {
	value, ok := d.data[name].(T)
	if !ok && d.data[name] != nil {
		d.err = errors.Join(d.err, fmt.Errorf("field %s holds a %T, not a %T", name, d.data[name], value))
	}

	return value
}

// version is the update time in a form that sorts and reads back exactly.
func version(t time.Time) claim.Version {
	return claim.Version(t.UTC().Format(time.RFC3339Nano))
}

// updateTime is the time that version wrote; ok is false for any other version.
func updateTime(v claim.Version) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, string(v))

	return t, err == nil
}
