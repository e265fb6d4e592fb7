package generator

import (
	"net/url"
	"slices"
	"strings"
)

// Store is one place where claims can be kept. A generated module links the one package it names and no other.
type Store struct {
	// Name is the scheme of the store's URLs, and how specs name it.
	Name string
	// Aliases are further schemes that the same package opens.
	Aliases []string
	// Title is the product's name.
	Title string
	// Package is the name of the Go package under runtime/claim.
	Package string
	// Inbox is the name of the Go package under runtime/webhook. Empty: the store keeps no events.
	Inbox string
	// Forgets says that the store may forget records when it fails over.
	Forgets bool
	// Example is a URL to show; it holds no secret.
	Example string
	// OneHost says that the claims live in a file of one machine, so that only one instance can serve.
	OneHost bool
	// Password is the environment variable that holds the password, which URLs must not. Empty: the store takes none.
	Password string
	// Prepared says that the table is made before the first run, by the command runs init.
	Prepared bool
	// Transaction says that the package has a CompleteTx, which commits effect and completion together.
	Transaction bool
	// Role is the IAM role that the handler's service account needs. Empty: none.
	Role string
}

// Stores lists the stores in the order in which messages name them.
func Stores() []Store {
	return []Store{
		{
			Name: "firestore", Title: "Firestore", Package: "firestoreclaim", Inbox: "firestoreinbox",
			Example: "firestore://my-project/(default)/scheduler_runs", Role: "roles/datastore.user", Transaction: true,
		},
		{
			Name: "postgres", Aliases: []string{"postgresql"}, Title: "PostgreSQL", Package: "postgresclaim", Inbox: "postgresinbox",
			Example: "postgres://my-user@my-host:5432/my-database", Password: "PGPASSWORD", Prepared: true, Transaction: true,
		},
		{
			Name: "redis", Aliases: []string{"rediss"}, Title: "Redis", Package: "redisclaim",
			Example: "redis://my-host:6379/0", Password: "REDISCLI_AUTH", Forgets: true,
		},
		{
			Name: "spanner", Title: "Spanner", Package: "spannerclaim", Inbox: "spannerinbox",
			Example:  "spanner://projects/my-project/instances/my-instance/databases/my-database",
			Prepared: true, Transaction: true, Role: "roles/spanner.databaseUser",
		},
		{
			Name: "sqlite", Title: "SQLite", Package: "sqliteclaim", Inbox: "sqliteinbox",
			Example: "sqlite:///var/lib/handler/claims.db", OneHost: true, Transaction: true,
		},
	}
}

// Schemes returns every scheme that the store's package opens.
func (s Store) Schemes() []string { return append([]string{s.Name}, s.Aliases...) }

// Import returns the import path of the store's package.
func (s Store) Import() string { return LibraryModule + "/runtime/claim/" + s.Package }

// findStore reads the store of a spec: its row, and the URL that becomes the default, "" for a scheme alone.
func findStore(spec Spec, k kind) (Store, string, *SpecError) {
	text := spec.Store
	if text == "" {
		text = "firestore"
		if spec.Project != "" {
			text = DefaultStore(k.name, spec.Project)
		}
	}
	scheme, rest, isURL := strings.Cut(text, ":")
	at := slices.IndexFunc(Stores(), func(s Store) bool { return slices.Contains(s.Schemes(), scheme) })
	if at < 0 {
		return Store{}, "", &SpecError{Field: "store", Reason: "it must be a URL or the scheme alone of one of " + strings.Join(StoreSchemes(), ", ")}
	}
	store := Stores()[at]
	if !isURL {
		return store, "", nil
	}
	if rest == "" {
		return Store{}, "", &SpecError{Field: "store", Reason: "nothing follows " + scheme + ": write a URL such as " + store.Example + ", or " + scheme + " alone"}
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\,$", r) }); i >= 0 {
		return Store{}, "", &SpecError{Field: "store", Reason: "the URL holds a blank, a quote, a comma, a backslash, a dollar sign or a character outside ASCII: write it as %XX"}
	}
	if holdsSecret(text) {
		mend := "take it out"
		if store.Password != "" {
			mend += " and give it at run time in " + store.Password
		}
		return Store{}, "", &SpecError{Field: "store", Reason: "the URL holds a password or what may be one: " + mend}
	}
	return store, text, nil
}

// holdsSecret reports whether a URL has, or could have, a secret in it: what cannot be read is not trusted.
func holdsSecret(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return true
	}
	if _, has := u.User.Password(); has {
		return true
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return true
	}
	for key := range query {
		for _, word := range []string{"pass", "pwd", "secret", "token", "credential"} {
			if strings.Contains(strings.ToLower(key), word) {
				return true
			}
		}
	}
	return false
}

// StoreSchemes lists the schemes of all stores, in the order of [Stores].
func StoreSchemes() []string {
	var all []string
	for _, s := range Stores() {
		all = append(all, s.Schemes()...)
	}
	return all
}
