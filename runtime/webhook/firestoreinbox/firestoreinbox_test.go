package firestoreinbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

func TestURLsNameProjectDatabaseAndCollection(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]location{
		"firestore://acme":                             {"acme", "(default)", "webhook_inbox", "firestore://acme/(default)/webhook_inbox"},
		"firestore://acme/jobs-db":                     {"acme", "jobs-db", "webhook_inbox", "firestore://acme/jobs-db/webhook_inbox"},
		"firestore://example.com:acme/(default)/hooks": {"example.com:acme", "(default)", "hooks", "firestore://example.com:acme/(default)/hooks"},
		"firestore://acme/%28default%29/hooks":         {"acme", "(default)", "hooks", "firestore://acme/%28default%29/hooks"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]string{
		"":                      "it is empty",
		"acme/(default)/hooks":  "it has no scheme",
		"firestore:acme":        "after the scheme come two slashes",
		"firestore://":          `the project "" is none`,
		"firestore://acme/":     `the database "" is none`,
		"sqlite:inbox.db":       `the scheme is "sqlite", but this binary was built for the store firestore`,
		"firestore://a/b/c/d":   "it has 4 parts after the scheme",
		"firestore://u:s3cr3t@": "it has a query, a fragment or a user",
	} {
		ddl := func() error { _, err := DDL(url); return err }
		open := func() error { _, err := Open(t.Context(), url); return err }

		for name, err := range map[string]error{"DDL": ddl(), "Open": open(), "Init": Init(t.Context(), url)} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") ||
				!strings.Contains(err.Error(), "; write firestore://PROJECT/(default)/webhook_inbox") {
				t.Errorf("%s(%q): %v", name, url, err)
			}
		}
	}
}

func TestDDLIsTheCommandsForPolicyAndIndexes(t *testing.T) {
	t.Parallel()

	const (
		where = "--collection-group=webhook_inbox --project=acme '--database=(default)'"
		want  = "gcloud firestore fields ttls update expire_at --collection-group=webhook_inbox --enable-ttl --project=acme '--database=(default)'\n" +
			"gcloud firestore indexes composite create " + where + " --query-scope=collection" +
			" --field-config=field-path=status,order=ascending --field-config=field-path=lease_expires,order=ascending\n" +
			"gcloud firestore indexes fields update payload --disable-indexes " + where + "\n"
	)

	if got, err := DDL("firestore://acme"); err != nil || got != want {
		t.Errorf("got %s%v\nwant %s", got, err, want)
	}
}

func TestAMissingIndexIsToldWithItsCommand(t *testing.T) {
	t.Parallel()

	s := Store{collection: (&firestore.Client{}).Collection("hooks"), mend: commands(location{"acme", "(default)", "hooks", ""})}
	cause := status.Error(codes.FailedPrecondition, "The query requires an index. You can create it here: https://console.example/indexes")

	err := s.explain(cause)
	for _, part := range []string{"the collection hooks lacks its index of due events", "gcloud firestore indexes composite create --collection-group=hooks", "https://console.example"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}

	if !errors.Is(err, cause) {
		t.Errorf("the cause is not in %v", err)
	}

	for _, other := range []error{status.Error(codes.FailedPrecondition, "the database is in another mode"), status.Error(codes.Unavailable, "index server away")} {
		if got := s.explain(other); !errors.Is(got, other) || got.Error() != other.Error() {
			t.Errorf("%v became %v", other, got)
		}
	}
}

func TestADocumentHasEveryFieldOfItsEvent(t *testing.T) {
	t.Parallel()

	e := webhook.NewEntry("acme", "msg_1", "", nil)

	doc := document(e, e.Record())
	if payload, ok := doc[fieldPayload].([]byte); !ok || payload == nil {
		t.Errorf("a body of no bytes is kept as %#v", doc[fieldPayload])
	}

	if _, ok := doc[fieldContentType]; ok {
		t.Error("a content type that was not given is kept")
	}

	if doc[fieldLeaseExpires] != firestore.ServerTimestamp || doc[fieldReceivedAt] != firestore.ServerTimestamp {
		t.Error("the times are not the server's")
	}

	if doc[fieldStatus] != string(claim.StatusReleased) || doc[fieldRun] != e.Name || doc[fieldFingerprint] != e.Fingerprint {
		t.Errorf("document %v", doc)
	}
}

func TestResultAndPayloadShareADocument(t *testing.T) {
	t.Parallel()

	const others = 32 << 10 // names, times, an error of 1 KiB, a long webhook id

	if maxPayload+maxResult+others > 1<<20 {
		t.Errorf("a payload of %d bytes and a result of %d do not fit into a document", maxPayload, maxResult)
	}
}

func TestTheGuardsBelongIntoAWork(t *testing.T) {
	t.Parallel()

	later, err := Later(t.Context(), nil, "contact/1", time.Now(), "1")
	if later || !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("Later: %v, %v", later, err)
	}

	once, err := Once(t.Context(), nil, "order/1", "1")
	if once || !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("Once: %v, %v", once, err)
	}
}

func TestACollectionOutsideTheAlphabetIsRefused(t *testing.T) {
	t.Parallel()

	if _, err := New(&firestore.Client{}, "a/b/c"); err == nil || !strings.HasPrefix(err.Error(), `firestoreinbox: firestoreclaim: the collection "a/b/c" is none: `) {
		t.Errorf("got %v", err)
	}
}
