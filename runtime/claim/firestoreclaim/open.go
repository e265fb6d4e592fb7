package firestoreclaim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// openTimeout bounds the read that Open makes: a cold start connects and fetches a token first.
const openTimeout = 30 * time.Second

var form = driver.Form{
	Store:   "firestore",
	Example: "firestore://PROJECT/(default)/" + driver.DefaultTable,
	Schemes: []string{"firestore"},
}

var (
	projectAlphabet    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:.-]*$`)
	databaseAlphabet   = regexp.MustCompile(`^(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$`)
	collectionAlphabet = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	reservedCollection = regexp.MustCompile(`^__.*__$`)
)

// location is what a URL names.
type location struct{ project, database, collection string }

// parse reads firestore://PROJECT/DATABASE/COLLECTION. It takes the parts itself: the colon of a domain-scoped project
// (example.com:acme) is no port.
func parse(raw string) (location, error) {
	rest, err := form.CutScheme(raw)
	if err != nil {
		return location{}, err
	}

	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return location{}, form.Errorf("after the scheme come two slashes")
	}

	if strings.ContainsAny(rest, "?#@") {
		return location{}, form.Errorf("it has a query, a fragment or a user, none of which means anything here")
	}

	parts := strings.Split(rest, "/")

	const most = 3
	if len(parts) > most {
		return location{}, form.Errorf("it has %d parts after the scheme, at most project, database and collection are meant", len(parts))
	}

	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return location{}, form.Errorf("part %d has a bad percent-escape", i+1)
		}
	}

	loc := location{project: parts[0], database: firestore.DefaultDatabaseID, collection: driver.DefaultTable}
	if len(parts) > 1 {
		loc.database = parts[1]
	}

	if len(parts) == most {
		loc.collection = parts[2]
	}

	return loc, loc.check()
}

func (l location) check() error {
	switch {
	case !projectAlphabet.MatchString(l.project):
		return form.Errorf("the project %q is none: letters, digits, colons, dots and hyphens", l.project)
	case !databaseAlphabet.MatchString(l.database):
		return form.Errorf("the database %q is none: (default), or 4 to 63 lower-case letters, digits and hyphens that begin with a letter", l.database)
	}

	if err := checkCollection(l.collection); err != nil {
		return form.Errorf("%v", err)
	}

	return nil
}

func checkCollection(name string) error {
	switch {
	case !collectionAlphabet.MatchString(name):
		return fmt.Errorf("the collection %q is none: 1 to 100 letters, digits, underscores, dots and hyphens that begin with a letter, digit or underscore", name)
	case reservedCollection.MatchString(name):
		return fmt.Errorf("the collection %q is none: Firestore keeps names between double underscores for itself", name)
	}

	return nil
}

// Option changes how Open connects.
type Option func(*options)

type options struct{ client []option.ClientOption }

// WithClientOptions passes options on to the Firestore client: credentials, an endpoint, interceptors.
func WithClientOptions(opts ...option.ClientOption) Option {
	return func(o *options) { o.client = append(o.client, opts...) }
}

// Open connects to the database that the URL names, reads once to see that it answers and to compare the clocks, and returns the
// store. The caller closes it. Credentials are the application's default ones, which need roles/datastore.user.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	loc, err := parse(url)
	if err != nil {
		return nil, err
	}

	var o options
	for _, opt := range opts {
		opt(&o)
	}

	name := fmt.Sprintf("firestore database %s of project %s", loc.database, loc.project)

	client, err := newClient(ctx, loc, o.client)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}

	s := newStore(client, loc.collection)
	s.owned = true

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	if s.offset, err = driver.Offset(ctx, s); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), client.Close())
	}

	s.offsetKnown = true

	return s, nil
}

func newClient(ctx context.Context, loc location, opts []option.ClientOption) (*firestore.Client, error) {
	if loc.database == firestore.DefaultDatabaseID {
		return firestore.NewClient(ctx, loc.project, opts...)
	}

	return firestore.NewClientWithDatabase(ctx, loc.project, loc.database, opts...)
}

// New returns a store over a client that the caller made, with the given collection or, for "", the default one. Close leaves the
// client open.
func New(client *firestore.Client, collection string) (*Store, error) {
	collection = cmp.Or(collection, driver.DefaultTable)

	if err := checkCollection(collection); err != nil {
		return nil, fmt.Errorf("firestoreclaim: %w", err)
	}

	return newStore(client, collection), nil
}

func newStore(client *firestore.Client, collection string) *Store {
	return &Store{client: client, collection: client.Collection(collection)}
}

// DDL returns the command that lays the collection's TTL policy down. Firestore makes collections by itself, and where Terraform
// manages the policy nothing is left to do.
func DDL(url string) (string, error) {
	loc, err := parse(url)
	if err != nil {
		return "", err
	}

	return fmt.Sprintf("gcloud firestore fields ttls update %s --collection-group=%s --enable-ttl --project=%s '--database=%s'\n",
		fieldExpireAt, loc.collection, loc.project, loc.database), nil
}

// Init sees that the database answers. There is no table to create.
func Init(ctx context.Context, url string, opts ...Option) error {
	s, err := Open(ctx, url, opts...)
	if err != nil {
		return err
	}

	return s.Close()
}
