package jobspec

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// storeForm is what a URL of one scheme must look like.
type storeForm struct {
	scheme string
	form   string // as messages show it
	fits   func(store string) bool
}

var (
	databaseName = regexp.MustCompile(`^(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$`)
	reservedName = regexp.MustCompile(`^(\.\.?|__.*__)$`)
	spannerPath  = regexp.MustCompile(`^projects/[^/]+/instances/[^/]+/databases/[^/]+$`)
)

// storeForms lists the stores that a declared job can name. Memory is not among them: it dies with its process.
func storeForms() []storeForm {
	return []storeForm{
		{"firestore", "firestore://PROJECT/DATABASE/COLLECTION", fitsFirestore},
		{"postgres", "postgres://HOST/DATABASE", fitsServer},
		{"postgresql", "postgresql://HOST/DATABASE", fitsServer},
		{"redis", "redis://HOST:PORT", fitsServer},
		{"rediss", "rediss://HOST:PORT", fitsServer},
		{"spanner", "spanner://projects/PROJECT/instances/INSTANCE/databases/DATABASE", fitsSpanner},
		{"sqlite", "sqlite:///ABSOLUTE/PATH.db or sqlite:RELATIVE.db", fitsSQLite},
	}
}

// fitsFirestore reads the parts by hand: the project of a domain, example.com:proj, is no host to net/url.
func fitsFirestore(store string) bool {
	_, rest, ok := strings.Cut(store, "://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || run.CheckProject(parts[0]) != nil {
		return false
	}
	collection := parts[2]
	return databaseName.MatchString(parts[1]) && collection != "" && len(collection) <= 1500 &&
		!strings.ContainsAny(collection, "?#@") && !reservedName.MatchString(collection)
}

func fitsServer(store string) bool {
	u, err := parseStore(store)
	return err == nil && u.Opaque == "" && u.Fragment == "" && (u.Hostname() != "" || u.Query().Get("host") != "")
}

func fitsSpanner(store string) bool {
	u, err := parseStore(store)
	return err == nil && u.Fragment == "" && u.User == nil && spannerPath.MatchString(u.Host+u.Path)
}

func fitsSQLite(store string) bool {
	u, err := parseStore(store)
	return err == nil && u.Fragment == "" && (u.Opaque != "" || u.Host == "" && len(u.Path) > 1)
}

// storeScheme is the scheme of a store URL, "" when there is none.
func storeScheme(store string) string {
	scheme, _, ok := strings.Cut(store, ":")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// badStore says what is wrong with a store URL, "" when nothing is. The text itself is not repeated: it may hold a password.
func badStore(store string) string {
	scheme := storeScheme(store)
	forms := make([]string, 0, len(storeForms()))
	for _, form := range storeForms() {
		forms = append(forms, form.form)
		if form.scheme != scheme {
			continue
		}
		if !form.fits(store) {
			return "A store of this scheme is written " + form.form + "."
		}
		return ""
	}
	if scheme == "memory" {
		return "Claims in memory are gone with the process that holds them, and other processes never see them. A store is one of " +
			strings.Join(forms, ", ") + "."
	}
	return "A store is one of " + strings.Join(forms, ", ") + "."
}

// errStore stands for an error of url.Parse, which would repeat the URL.
var errStore = errors.New("not a URL")

// parseStore is url.Parse without the text in its error.
func parseStore(store string) (*url.URL, error) {
	u, err := url.Parse(store)
	if err != nil {
		return nil, errStore
	}
	return u, nil
}

// holdsPassword says whether a store URL carries a secret: in its user part, or in a parameter that drivers read one from.
func holdsPassword(store string) bool {
	u, err := parseStore(store)
	if err != nil {
		// What cannot be parsed may still hold one: a password with a stray % or # in it.
		_, rest, _ := strings.Cut(store, "://")
		return strings.Contains(rest, "@")
	}
	if u.User != nil {
		if password, set := u.User.Password(); set && password != "" {
			return true
		}
	}
	for name, values := range u.Query() {
		if isSecretParameter(name) && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

func isSecretParameter(name string) bool {
	switch strings.ToLower(name) {
	case "password", "passwd", "pwd", "sslpassword", "secret", "token", "access_token":
		return true
	}
	return false
}

// withoutPassword is a store URL as it may be shown.
func withoutPassword(store string) string {
	if !holdsPassword(store) {
		return store
	}
	u, err := parseStore(store)
	if err != nil {
		return storeScheme(store) + "://"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	for name := range query {
		if isSecretParameter(name) {
			query.Del(name)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}
