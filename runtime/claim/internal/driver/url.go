package driver

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// DefaultTable is the table or collection of a URL that names none.
const DefaultTable = "scheduler_runs"

// URLError says what is wrong with a store URL. It never holds the URL itself, which may carry a password.
type URLError struct {
	// Store is the store that the binary was built for.
	Store string
	// Reason says what is wrong, Remedy what to write instead.
	Reason, Remedy string
}

func (e *URLError) Error() string {
	return fmt.Sprintf("%s store URL: %s; %s", e.Store, e.Reason, e.Remedy)
}

// WithDefaultTable is the error for who keeps something other than claims in the store, in a table that is called otherwise by default.
func (e *URLError) WithDefaultTable(name string) error {
	told := *e
	told.Remedy = strings.ReplaceAll(e.Remedy, DefaultTable, name)

	return &told
}

// Form is how the URLs of one store are written.
type Form struct {
	// Store names the store and Example shows its URL.
	Store, Example string
	// Schemes are those that the store answers to.
	Schemes []string
	// Parameters are the query parameters that the store takes for itself. Nil: it takes every one.
	Parameters []string
}

// CutScheme checks the scheme and returns what follows its colon.
func (f Form) CutScheme(raw string) (rest string, err error) {
	if raw == "" {
		return "", f.Errorf("it is empty")
	}

	scheme, rest, found := strings.Cut(raw, ":")
	if !found || !schemeAlphabet.MatchString(scheme) {
		return "", f.Errorf("it has no scheme")
	}

	if scheme = strings.ToLower(scheme); !slices.Contains(f.Schemes, scheme) {
		return "", &URLError{
			Store:  f.Store,
			Reason: fmt.Sprintf("the scheme is %q, but this binary was built for the store %s", scheme, f.Store),
			Remedy: "write " + f.Example + ", or build the handler for the other store",
		}
	}

	return rest, nil
}

// Parse reads the URL and checks its scheme and the names of its parameters, each of which may be given once.
func (f Form) Parse(raw string) (*url.URL, error) {
	if _, err := f.CutScheme(raw); err != nil {
		return nil, err
	}

	// What url.Parse says quotes the URL, and a password with it.
	u, err := url.Parse(raw)
	if err != nil {
		return nil, f.Errorf("it cannot be read as a URL (special characters in a user name or password must be percent-encoded)")
	}

	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, f.Errorf("its query cannot be read")
	}

	if u.Fragment != "" {
		return nil, f.Errorf("it has a fragment (#), which means nothing here")
	}

	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		if len(values) > 1 {
			return nil, f.Errorf("the parameter %q is given %d times", name, len(values))
		}

		if f.Parameters != nil && !slices.Contains(f.Parameters, name) {
			return nil, f.Errorf("the parameter %q is not known (known: %s)", name, strings.Join(f.Parameters, ", "))
		}
	}

	return u, nil
}

// Server reads the URL of a server. It returns the URL as the server's client takes it, which knows nothing of tables, and the table.
func (f Form) Server(raw string) (client *url.URL, table string, err error) {
	u, err := f.Parse(raw)
	if err != nil {
		return nil, "", err
	}

	if u.Opaque != "" {
		return nil, "", f.Errorf("after the scheme come two slashes")
	}

	if table, err = f.Table(u); err != nil {
		return nil, "", err
	}

	query := u.Query()
	query.Del("table")
	u.RawQuery = query.Encode()

	return u, table, nil
}

// Errorf is a URLError that shows how the store's URLs are written.
func (f Form) Errorf(format string, args ...any) error {
	return &URLError{Store: f.Store, Reason: fmt.Sprintf(format, args...), Remedy: "write " + f.Example}
}

var (
	schemeAlphabet = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)
	tableAlphabet  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
)

// errTable says what a table may be called.
var errTable = errors.New("must be a letter or underscore, then at most 62 letters, digits and underscores")

// CheckTable checks a table name: a letter or underscore, then at most 62 letters, digits and underscores. Every store accepts
// such a name, and it needs no escaping in any of them.
func CheckTable(name string) error {
	if !tableAlphabet.MatchString(name) {
		return fmt.Errorf("table name %q %w", name, errTable)
	}

	return nil
}

// Table is the table that the URL's query names, or the default.
func (f Form) Table(u *url.URL) (string, error) {
	name := DefaultTable
	if query := u.Query(); query.Has("table") {
		name = query.Get("table")
	}

	if err := CheckTable(name); err != nil {
		return "", f.Errorf("%v", err)
	}

	return name, nil
}

// Harmless is ": " and the reason that a client gives for not reading the URL, or nothing if a secret of the URL is in it.
func Harmless(reason string, u *url.URL) string {
	if reason == "" {
		return ""
	}

	password, _ := u.User.Password()

	for _, secret := range []string{password, u.Query().Get("password"), u.Query().Get("sslpassword")} {
		if secret != "" && strings.Contains(reason, secret) {
			return ""
		}
	}

	return ": " + reason
}

// Precision is what every store keeps of a time or duration. Firestore and PostgreSQL keep no more.
const Precision = time.Microsecond
