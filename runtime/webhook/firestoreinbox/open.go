package firestoreinbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cloud.google.com/go/firestore"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

const (
	// maxDocument is what Firestore keeps of a document, names included.
	maxDocument = 1 << 20
	// maxResult and maxPayload share a document, and leave room for the other fields.
	maxResult  = 64 << 10
	maxPayload = maxDocument - maxResult - 64<<10
)

// Suffixes of the collections of the guards.
const (
	entitiesSuffix = "_entities"
	partsSuffix    = "_parts"
)

// Store is the inbox. It is safe for concurrent use.
type Store struct {
	*firestoreclaim.Store

	client     *firestore.Client
	collection *firestore.CollectionRef
	entities   *firestore.CollectionRef
	parts      *firestore.CollectionRef
	mend       string // the commands that lay down what the collection needs
	shown      shown
}

var (
	_ webhook.Inbox     = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// location is what a URL names, and the URL with all of it.
type location struct{ project, database, collection, url string }

// parse reads a URL as package firestoreclaim does, but for the collection of one that names none.
func parse(raw string) (location, error) {
	const slashes = "://"

	scheme, rest, _ := strings.Cut(raw, slashes)
	parts := strings.Split(rest, "/")

	parts = append(parts, []string{firestore.DefaultDatabaseID, webhook.DefaultTable}[min(len(parts)-1, 2):]...)

	full := raw
	if rest != "" {
		full = scheme + slashes + strings.Join(parts, "/")
	}

	if _, err := firestoreclaim.DDL(full); err != nil {
		return location{}, driver.InboxURL(err)
	}

	for i := range parts {
		part, err := url.PathUnescape(parts[i])
		if err != nil {
			return location{}, err // not after DDL has read it
		}

		parts[i] = part
	}

	return location{project: parts[0], database: parts[1], collection: parts[2], url: full}, nil
}

// Open connects to the database that the URL names, as firestoreclaim.Open does; without a collection in the URL it is
// [webhook.DefaultTable]. The caller closes the inbox.
func Open(ctx context.Context, url string, opts ...firestoreclaim.Option) (*Store, error) {
	loc, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("open firestore inbox: %w", err)
	}

	claims, err := firestoreclaim.Open(ctx, loc.url, opts...)
	if err != nil {
		return nil, fmt.Errorf("open firestore inbox: %w", err)
	}

	return newStore(claims, loc.collection, commands(loc)), nil
}

// New returns an inbox over a client that the caller made, with the given collection or, for "", the default one. Close leaves the
// client open.
func New(client *firestore.Client, collection string) (*Store, error) {
	collection = cmp.Or(collection, webhook.DefaultTable)

	claims, err := firestoreclaim.New(client, collection)
	if err != nil {
		return nil, fmt.Errorf("firestoreinbox: %w", err)
	}

	return newStore(claims, collection, commands(location{project: "PROJECT", database: "DATABASE", collection: collection})), nil
}

func newStore(claims *firestoreclaim.Store, collection, mend string) *Store {
	client := claims.Client()

	return &Store{
		Store: claims, client: client, collection: client.Collection(collection),
		entities: client.Collection(collection + entitiesSuffix), parts: client.Collection(collection + partsSuffix), mend: mend,
		shown: shown{docs: map[string]showing{}},
	}
}

// Unwrap leads firestoreclaim.CompleteTx to its store.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Caps are those of package firestoreclaim, but for the length of a result, which shares the document with the payload.
func (s *Store) Caps() claim.Caps {
	caps := s.Store.Caps()
	caps.MaxResult = maxResult

	return caps
}

// MaxPayload is the longest payload that the inbox takes, in bytes.
func (s *Store) MaxPayload() int { return maxPayload }

// DDL returns the commands that lay down what the collection of the inbox needs: the TTL policy, the index of due events, and that
// payloads are not indexed. Firestore makes collections by itself, and where Terraform manages the three nothing is left to do.
func DDL(url string) (string, error) {
	loc, err := parse(url)
	if err != nil {
		return "", fmt.Errorf("firestoreinbox: %w", err)
	}

	ttl, err := firestoreclaim.DDL(loc.url)
	if err != nil {
		return "", fmt.Errorf("firestoreinbox: %w", err)
	}

	return ttl + commands(loc), nil
}

func commands(loc location) string {
	where := fmt.Sprintf("--collection-group=%s --project=%s '--database=%s'", loc.collection, loc.project, loc.database)

	return fmt.Sprintf("gcloud firestore indexes composite create %s --query-scope=collection"+
		" --field-config=field-path=%s,order=ascending --field-config=field-path=%s,order=ascending\n"+
		"gcloud firestore indexes fields update %s --disable-indexes %s\n",
		where, fieldStatus, fieldLeaseExpires, fieldPayload, where)
}

// Init sees that the database answers and that the index of due events is there; there is no table to create. Where the index is
// missing, the error holds the command that creates it.
func Init(ctx context.Context, url string, opts ...firestoreclaim.Option) error {
	s, err := Open(ctx, url, opts...)
	if err != nil {
		return err
	}

	if _, err = s.Due(ctx, 1, 0); err != nil {
		err = fmt.Errorf("init firestore inbox: %w", err)
	}

	return errors.Join(err, s.Close())
}
