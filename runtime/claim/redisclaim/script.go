package redisclaim

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// The fields of a hash. Times and the lease are microseconds, times since 1970.
const (
	fieldStatus       = "status"
	fieldAttemptID    = "attempt_id"
	fieldAttempt      = "attempt"
	fieldCounted      = "counted"
	fieldRev          = "rev"
	fieldWrittenAt    = "written_at"
	fieldLease        = "lease"
	fieldLeaseExpires = "lease_expires"
	fieldExpireAt     = "expire_at"
	fieldClaimedAt    = "claimed_at"
	fieldHolder       = "holder"
	fieldRun          = "run"
	fieldLastError    = "last_error"
	fieldFingerprint  = "fingerprint"
	fieldResult       = "result"
)

// The scripts answer {1, now} when they wrote, else {0, now, the hash as names and values}. A lease and a day of 1e11 microseconds
// are exact in Lua's numbers.
const (
	clockLua = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stamp = string.format('%.0f', now)
`
	// writeLua replaces the hash. ARGV[first] is expire_at in milliseconds or nothing, ARGV[first+1] the milliseconds that the
	// lease keeps it alive, then come the fields. The server deletes it a minute after the later of the two: readers compare
	// expire_at by themselves, and must not see a record vanish before.
	writeLua = `local function write(first)
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'written_at', stamp, unpack(ARGV, first + 2))
  if ARGV[first] ~= '' then
    local last = math.max(tonumber(ARGV[first]), now / 1000 + ARGV[first + 1])
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last + 60000))
  end
  return {1, stamp}
end
`
	insertLua = clockLua + writeLua + `if redis.call('EXISTS', KEYS[1]) == 1 then
  return {0, stamp, redis.call('HGETALL', KEYS[1])}
end
return write(1)
`
	swapLua = clockLua + writeLua + `local old = redis.call('HMGET', KEYS[1], 'attempt_id', 'rev')
if old[1] ~= ARGV[1] or old[2] ~= ARGV[2] then
  return {0, stamp, redis.call('HGETALL', KEYS[1])}
end
return write(3)
`
	getLua = clockLua + `return {0, stamp, redis.call('HGETALL', KEYS[1])}
`
)

// bind is the arguments of a write: expiry, lease, fields. Fields that hold nothing are left out.
func bind(r claim.Record) []any {
	expire := ""
	if !r.ExpireAt.IsZero() {
		expire = strconv.FormatInt(max(r.ExpireAt.UnixMilli(), 0), 10)
	}

	hold := int64(0)
	if r.Status == claim.StatusInProgress {
		hold = r.Lease.Milliseconds() + 1
	}

	args := []any{
		expire, hold, fieldStatus, string(r.Status), fieldAttemptID, r.AttemptID, fieldAttempt, r.Attempt, fieldCounted, r.Counted,
		fieldRev, r.Rev, fieldLease, r.Lease.Microseconds(),
	}

	for _, f := range []struct {
		name string
		t    time.Time
	}{{fieldLeaseExpires, r.LeaseExpires}, {fieldExpireAt, r.ExpireAt}, {fieldClaimedAt, r.ClaimedAt}} {
		if !f.t.IsZero() {
			args = append(args, f.name, f.t.UnixMicro())
		}
	}

	for _, f := range []struct{ name, text string }{
		{fieldHolder, r.Holder}, {fieldRun, r.Run}, {fieldLastError, r.LastError}, {fieldFingerprint, r.Fingerprint},
		{fieldResult, string(r.Result)},
	} {
		if f.text != "" {
			args = append(args, f.name, f.text)
		}
	}

	return args
}

// answer reads what a script returned. For a write that happened it is r as written.
func answer(cmd *redis.Cmd, id string, r claim.Record) (claim.Snapshot, bool, error) {
	reply, err := cmd.Slice()
	if err != nil {
		return claim.Snapshot{}, false, classify(err)
	}

	const written, read = 2, 3
	if len(reply) != written && len(reply) != read {
		return claim.Snapshot{}, false, fmt.Errorf("script answered %d values", len(reply))
	}

	now, err := strconv.ParseInt(fmt.Sprint(reply[1]), 10, 64)
	if err != nil {
		return claim.Snapshot{}, false, fmt.Errorf("script's time: %w", err)
	}

	at := time.UnixMicro(now).UTC()
	if len(reply) == written {
		return driver.Written(id, r, at), true, nil
	}

	hash, ok := reply[2].([]any)
	if !ok {
		return claim.Snapshot{}, false, fmt.Errorf("script answered a %T", reply[2])
	}

	found, err := snapshot(id, hash)
	found.Now = at

	return found, false, err
}

// snapshot reads a hash of names and values. An empty one is no record.
func snapshot(id string, hash []any) (claim.Snapshot, error) {
	if len(hash) == 0 {
		return claim.Snapshot{}, nil
	}

	d := decoder{fields: make(map[string]string, len(hash)/2)}
	for i := 0; i+1 < len(hash); i += 2 {
		d.fields[fmt.Sprint(hash[i])] = fmt.Sprint(hash[i+1])
	}

	s := claim.Snapshot{ID: id, Written: d.time(fieldWrittenAt), Record: driver.Normal(claim.Record{
		Status:       claim.Status(d.fields[fieldStatus]),
		AttemptID:    d.fields[fieldAttemptID],
		Attempt:      int(d.integer(fieldAttempt)),
		Counted:      int(d.integer(fieldCounted)),
		Rev:          d.integer(fieldRev),
		Lease:        time.Duration(d.integer(fieldLease)) * time.Microsecond,
		LeaseExpires: d.time(fieldLeaseExpires),
		ExpireAt:     d.time(fieldExpireAt),
		ClaimedAt:    d.time(fieldClaimedAt),
		Holder:       d.fields[fieldHolder],
		Run:          d.fields[fieldRun],
		LastError:    d.fields[fieldLastError],
		Fingerprint:  d.fields[fieldFingerprint],
		Result:       []byte(d.fields[fieldResult]),
	})}
	s.Version = s.Record.Version()

	if d.err != nil {
		return claim.Snapshot{}, fmt.Errorf("hash of run %s is not a claim: %w", id, d.err)
	}

	return s, nil
}

// decoder takes fields out of a hash and collects what does not fit.
type decoder struct {
	fields map[string]string
	err    error
}

func (d *decoder) integer(name string) int64 {
	text, ok := d.fields[name]
	if !ok {
		return 0
	}

	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		d.err = errors.Join(d.err, fmt.Errorf("field %s: %w", name, err))
	}

	return n
}

func (d *decoder) time(name string) time.Time {
	if _, ok := d.fields[name]; !ok {
		return time.Time{}
	}

	return time.UnixMicro(d.integer(name)).UTC()
}
