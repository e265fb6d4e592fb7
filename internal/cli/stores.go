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
)

// storeDriver is how the command line reaches a store. A handler links one store; this program knows them all.
type storeDriver struct {
	schemes []string
	open    func(ctx context.Context, url string) (claim.Store, error)
	create  func(ctx context.Context, url string) error
	ddl     func(url string) (string, error)
}

// storeDrivers is the table of schemes.
func storeDrivers() []storeDriver {
	return []storeDriver{
		{
			schemes: []string{"firestore"}, ddl: firestoreclaim.DDL,
			open:   func(ctx context.Context, url string) (claim.Store, error) { return firestoreclaim.Open(ctx, url) },
			create: func(ctx context.Context, url string) error { return firestoreclaim.Init(ctx, url) },
		},
		{
			schemes: []string{"postgres", "postgresql"}, ddl: postgresclaim.DDL,
			open:   func(ctx context.Context, url string) (claim.Store, error) { return postgresclaim.Open(ctx, url) },
			create: func(ctx context.Context, url string) error { return postgresclaim.Init(ctx, url) },
		},
		{
			schemes: []string{"redis", "rediss"}, ddl: redisclaim.DDL,
			open:   func(ctx context.Context, url string) (claim.Store, error) { return redisclaim.Open(ctx, url) },
			create: func(ctx context.Context, url string) error { return redisclaim.Init(ctx, url) },
		},
		{
			schemes: []string{"spanner"}, ddl: spannerclaim.DDL,
			open:   func(ctx context.Context, url string) (claim.Store, error) { return spannerclaim.Open(ctx, url) },
			create: func(ctx context.Context, url string) error { return spannerclaim.Init(ctx, url) },
		},
		{
			schemes: []string{"sqlite"}, ddl: sqliteclaim.DDL,
			open:   func(ctx context.Context, url string) (claim.Store, error) { return sqliteclaim.Open(ctx, url) },
			create: sqliteclaim.Init,
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
