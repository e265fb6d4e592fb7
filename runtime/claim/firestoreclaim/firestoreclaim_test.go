package firestoreclaim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	const (
		mend       = "; write firestore://PROJECT/(default)/scheduler_runs"
		project    = " is none: letters, digits, colons, dots and hyphens"
		database   = " is none: (default), or 4 to 63 lower-case letters, digits and hyphens that begin with a letter"
		collection = " is none: 1 to 100 letters, digits, underscores, dots and hyphens that begin with a letter, digit or underscore"
		senseless  = "it has a query, a fragment or a user, none of which means anything here"
	)

	for url, want := range map[string]string{
		"":                                 "it is empty" + mend,
		"acme/(default)/runs":              "it has no scheme" + mend,
		"sqlite:claims.db":                 `the scheme is "sqlite", but this binary was built for the store firestore` + mend + ", or build the handler for the other store",
		"firestore:acme":                   "after the scheme come two slashes" + mend,
		"firestore://":                     `the project ""` + project + mend,
		"firestore://{project}/(default)":  `the project "{project}"` + project + mend,
		"firestore://acme/":                `the database ""` + database + mend,
		"firestore://acme/Default":         `the database "Default"` + database + mend,
		"firestore://acme/abc":             `the database "abc"` + database + mend,
		"firestore://acme/(default)/":      `the collection ""` + collection + mend,
		"firestore://acme/(default)/a b":   `the collection "a b"` + collection + mend,
		"firestore://acme/(default)/a%2Fb": `the collection "a/b"` + collection + mend,
		"firestore://acme/(default)/__x__": `the collection "__x__" is none: Firestore keeps names between double underscores for itself` + mend,
		"firestore://acme/(default)/a/b/c": "it has 5 parts after the scheme, at most project, database and collection are meant" + mend,
		"firestore://acme/%zz":             "part 2 has a bad percent-escape" + mend,
		"firestore://acme?table=x":         senseless + mend,
		"firestore://acme/(default)/a#b":   senseless + mend,
		"firestore://u:secret@acme":        senseless + mend,
	} {
		want = "firestore store URL: " + want
		if _, err := Open(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("Open(%q)\n got %v\nwant %s", url, err, want)
		}

		if _, err := DDL(url); err == nil || err.Error() != want {
			t.Errorf("DDL(%q)\n got %v\nwant %s", url, err, want)
		}
	}
}

func TestURLsNameProjectDatabaseAndCollection(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]location{
		"firestore://acme":                      {"acme", "(default)", "scheduler_runs"},
		"firestore://acme/jobs-db":              {"acme", "jobs-db", "scheduler_runs"},
		"firestore://acme/(default)/runs-2.x":   {"acme", "(default)", "runs-2.x"},
		"firestore://acme/%28default%29/runs":   {"acme", "(default)", "runs"},
		"firestore://example.com:acme/eu-west1": {"example.com:acme", "eu-west1", "scheduler_runs"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestDDLIsTheCommandForTheTTLPolicy(t *testing.T) {
	t.Parallel()

	got, err := DDL("firestore://acme/(default)/runs")
	if err != nil {
		t.Fatal(err)
	}

	if want := "gcloud firestore fields ttls update expire_at --collection-group=runs --enable-ttl --project=acme '--database=(default)'\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACollectionOutsideTheAlphabetIsRefused(t *testing.T) {
	t.Parallel()

	if _, err := New(&firestore.Client{}, "a/b/c"); err == nil || !strings.HasPrefix(err.Error(), `firestoreclaim: the collection "a/b/c" is none: `) {
		t.Errorf("got %v", err)
	}
}

func TestAnUpdateSetsOrRemovesEveryField(t *testing.T) {
	t.Parallel()

	full := claim.Record{
		Status: "completed", AttemptID: "a", Attempt: 1, Counted: 1, Rev: 1, Lease: time.Second, LeaseExpires: time.Now(),
		ExpireAt: time.Now(), ClaimedAt: time.Now(), Holder: "h", Run: "r", LastError: "e", Fingerprint: "f", Result: []byte("x"),
	}

	for _, r := range []claim.Record{{}, full} {
		set, removed := 0, 0

		for _, u := range updates(r) {
			if u.Value == firestore.Delete {
				removed++

				if !slices.Contains(optional, u.Path) {
					t.Errorf("%s is removed", u.Path)
				}
			} else {
				set++
			}
		}

		if set+removed != len(fields(full)) {
			t.Errorf("%+v: %d fields set and %d removed, want %d in all", r, set, removed, len(fields(full)))
		}
	}
}

func TestAFieldOfAnotherTypeIsNamed(t *testing.T) {
	t.Parallel()

	d := decoder{data: map[string]any{fieldStatus: int64(5), fieldHolder: nil}}
	if got := field[string](&d, fieldHolder); got != "" || d.err != nil {
		t.Errorf("a null field is %q, %v", got, d.err)
	}

	field[string](&d, fieldStatus)

	if want := "field status holds a int64, not a string"; d.err == nil || d.err.Error() != want {
		t.Errorf("got %v, want %s", d.err, want)
	}
}

func TestAVersionReadsBackToTheMicrosecond(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 10, 16, 12, 0, 0, 123456000, time.UTC)
	if got, ok := updateTime(version(at)); !ok || !got.Equal(at) {
		t.Errorf("got %v, %v", got, ok)
	}

	if _, ok := updateTime("attempt/3"); ok {
		t.Error("another store's version is taken for an update time")
	}
}

func TestOnlyAbortedIsAConflict(t *testing.T) {
	t.Parallel()

	for code := codes.OK + 1; code <= codes.Unauthenticated; code++ {
		err := classify(status.Error(code, "x"))
		if got, want := errors.Is(err, claim.ErrConflict), code == codes.Aborted; got != want {
			t.Errorf("%v is a conflict: %v", code, got)
		}

		if status.Code(err) != code {
			t.Errorf("%v became %v", code, status.Code(err))
		}
	}
}

func TestCompleteTxOutsideAWorkIsAnError(t *testing.T) {
	t.Parallel()

	err := CompleteTx(t.Context(), func(context.Context, *firestore.Transaction) error { return nil })
	if !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
}
