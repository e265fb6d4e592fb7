package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/firestoreinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/spannerinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/sqliteinbox"
)

// storeDriver is how the command line reaches a store. A handler links one store; this program knows them all.
type storeDriver struct {
	schemes []string
	claims  tables[claim.Store]
	inbox   tables[webhook.Inbox] // zero: the store keeps none
}

// tables is how what is kept in a store for one purpose is opened, created and described.
type tables[S any] struct {
	open   func(ctx context.Context, url string) (S, error)
	create func(ctx context.Context, url string) error
	ddl    func(url string) (string, error)
}

// storeDrivers is the table of schemes.
func storeDrivers() []storeDriver {
	return []storeDriver{
		{
			schemes: []string{"firestore"},
			claims: tables[claim.Store]{
				open:   func(ctx context.Context, url string) (claim.Store, error) { return firestoreclaim.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return firestoreclaim.Init(ctx, url) },
				ddl:    firestoreclaim.DDL,
			},
			inbox: tables[webhook.Inbox]{
				open:   func(ctx context.Context, url string) (webhook.Inbox, error) { return firestoreinbox.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return firestoreinbox.Init(ctx, url) },
				ddl:    firestoreinbox.DDL,
			},
		},
		{
			schemes: []string{"postgres", "postgresql"},
			claims: tables[claim.Store]{
				open:   func(ctx context.Context, url string) (claim.Store, error) { return postgresclaim.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return postgresclaim.Init(ctx, url) },
				ddl:    postgresclaim.DDL,
			},
			inbox: tables[webhook.Inbox]{
				open:   func(ctx context.Context, url string) (webhook.Inbox, error) { return postgresinbox.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return postgresinbox.Init(ctx, url) },
				ddl:    postgresinbox.DDL,
			},
		},
		{
			schemes: []string{"redis", "rediss"},
			claims: tables[claim.Store]{
				open:   func(ctx context.Context, url string) (claim.Store, error) { return redisclaim.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return redisclaim.Init(ctx, url) },
				ddl:    redisclaim.DDL,
			},
		},
		{
			schemes: []string{"spanner"},
			claims: tables[claim.Store]{
				open:   func(ctx context.Context, url string) (claim.Store, error) { return spannerclaim.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return spannerclaim.Init(ctx, url) },
				ddl:    spannerclaim.DDL,
			},
			inbox: tables[webhook.Inbox]{
				open:   func(ctx context.Context, url string) (webhook.Inbox, error) { return spannerinbox.Open(ctx, url) },
				create: func(ctx context.Context, url string) error { return spannerinbox.Init(ctx, url) },
				ddl:    spannerinbox.DDL,
			},
		},
		{
			schemes: []string{"sqlite"},
			claims: tables[claim.Store]{
				open:   func(ctx context.Context, url string) (claim.Store, error) { return sqliteclaim.Open(ctx, url) },
				create: sqliteclaim.Init,
				ddl:    sqliteclaim.DDL,
			},
			inbox: tables[webhook.Inbox]{
				open:   func(ctx context.Context, url string) (webhook.Inbox, error) { return sqliteinbox.Open(ctx, url) },
				create: sqliteinbox.Init,
				ddl:    sqliteinbox.DDL,
			},
		},
	}
}

// findDriver finds the store that a URL is of. The error never repeats the URL, which can hold a password.
func findDriver(url string) (storeDriver, error) {
	if url == "" {
		return storeDriver{}, errors.New("--store is missing: give the URL of the store, or set the environment variable " + run.EnvStore +
			", which keeps a password off the command line")
	}
	scheme, _, _ := strings.Cut(url, ":")
	var known []string
	for _, d := range storeDrivers() {
		if slices.Contains(d.schemes, strings.ToLower(scheme)) {
			return d, nil
		}
		known = append(known, d.schemes...)
	}
	return storeDriver{}, fmt.Errorf("--store: the URL must begin with the scheme of a store and a colon; the schemes are %s", strings.Join(known, ", "))
}
