package redisclaim

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	const mend = "; write redis://HOST:6379/0?table=scheduler_runs (rediss:// for TLS) and give the password as REDISCLI_AUTH"

	for url, want := range map[string]string{
		"":                              "it is empty" + mend,
		"localhost":                     "it has no scheme" + mend,
		"localhost:6379":                `the scheme is "localhost", but this binary was built for the store redis` + mend + ", or build the handler for the other store",
		"postgres://me:s3cr3t@db/x":     `the scheme is "postgres", but this binary was built for the store redis` + mend + ", or build the handler for the other store",
		"redis:6379":                    "after the scheme come two slashes" + mend,
		"redis://:s3cr3t/x@db/0":        "it cannot be read as a URL (special characters in a user name or password must be percent-encoded)" + mend,
		"redis://:s3cr3t@db/x":          `the client cannot read it: invalid database number: "x"` + mend,
		"redis://:s3cr3t@db/s3cr3t":     "the client cannot read it" + mend,
		"redis://db/0?pool_size=many":   `the client cannot read it: invalid pool_size number: strconv.Atoi: parsing "many": invalid syntax` + mend,
		"redis://db/0?nonsense=1":       "the client cannot read it: unexpected option: nonsense" + mend,
		"redis://db/0#x":                "it has a fragment (#), which means nothing here" + mend,
		"redis://db/0?table=a:b":        `table name "a:b" must be a letter or underscore, then at most 62 letters, digits and underscores` + mend,
		"rediss://db/0?table=a&table=b": `the parameter "table" is given 2 times` + mend,
	} {
		want = "redis store URL: " + want
		if _, err := Open(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("Open(%q)\n got %v\nwant %s", url, err, want)
		}

		if _, err := DDL(url); err == nil || err.Error() != want {
			t.Errorf("DDL(%q)\n got %v\nwant %s", url, err, want)
		}
	}
}

func TestURLsNameServerAndTable(t *testing.T) {
	t.Parallel()

	options, table, err := parse("rediss://me@db:6380/2?table=runs&pool_size=3")
	if err != nil {
		t.Fatal(err)
	}

	if table != "runs" || options.Addr != "db:6380" || options.DB != 2 || options.PoolSize != 3 || options.TLSConfig == nil {
		t.Errorf("got table %s and %+v", table, options)
	}
}

func TestARecordReadsBackFromItsHash(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 10, 16, 12, 0, 0, 123456000, time.UTC)

	for name, r := range map[string]claim.Record{
		"least": {Status: claim.StatusReleased, LeaseExpires: time.Unix(0, 0).UTC()},
		"full": {
			Status: claim.StatusCompleted, AttemptID: "a", Attempt: 2, Counted: 1, Rev: 7, Lease: 90 * time.Second, LeaseExpires: at,
			ExpireAt: at.Add(time.Hour), ClaimedAt: at, Holder: "h", Run: "r", LastError: "e", Fingerprint: "f", Result: []byte{0, 255},
		},
	} {
		hash := []any{fieldWrittenAt, strconv.FormatInt(at.UnixMicro(), 10)}
		for _, arg := range bind(r)[2:] {
			hash = append(hash, fmt.Sprint(arg))
		}

		got, err := snapshot("id", hash)
		if err != nil {
			t.Fatal(err)
		}

		if want := driver.Written("id", r, at); !reflect.DeepEqual(got.Record, want.Record) || got.Version != want.Version || !got.Written.Equal(at) {
			t.Errorf("%s record\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestAHashThatIsNoClaimIsNamed(t *testing.T) {
	t.Parallel()

	_, err := snapshot("id", []any{fieldRev, "x"})
	if want := `hash of run id is not a claim: field rev: strconv.ParseInt: parsing "x": invalid syntax`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAServerThatIsNotReadyIsAConflict(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		"LOADING Redis is loading the dataset in memory": true, "BUSY Redis is busy running a script": true,
		"READONLY You can't write against a read only replica.": false, "connection reset": false,
	} {
		if got := errors.Is(classify(serverError(text)), claim.ErrConflict); got != want {
			t.Errorf("%s is a conflict: %v, want %v", text, got, want)
		}
	}
}

// serverError is what the client makes of an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}
