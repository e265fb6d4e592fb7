package demo

import (
	"context"
	"database/sql"
	_ "embed" // the work that is filled into the generated handler
	"errors"
	"fmt"
	"path/filepath"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "modernc.org/sqlite" // the driver that reads the table of effects

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

//go:embed work/sqlite.go.txt
var sqliteWork string

//go:embed work/firestore.go.txt
var firestoreWork string

// backend is a store of claims together with the table of effects beside it.
type backend struct {
	// url is the store's, as the configuration and the handler get it.
	url string
	// work is the job.go that writes one row an attempt, in the transaction that completes the claim.
	work string
	// env is what the handler needs to reach the store beyond its URL.
	env    []string
	claims claim.Store
	// effects counts the rows by run.
	effects func(ctx context.Context) (map[string]int, error)
	close   func() error
}

// openBackend makes the store and an empty table of effects.
func openBackend(ctx context.Context, name, dir string) (*backend, error) {
	switch name {
	case "sqlite":
		return openSQLite(ctx, dir)
	case "firestore":
		return openFirestore(ctx)
	default:
		return nil, fmt.Errorf("store %q: choose sqlite or firestore", name)
	}
}

func openSQLite(ctx context.Context, dir string) (*backend, error) {
	path := filepath.Join(dir, "claims.db")
	url := "sqlite://" + path

	claims, err := sqliteclaim.Open(ctx, url)
	if err != nil {
		return nil, err
	}

	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the table of effects: %w", err), claims.Close())
	}

	b := &backend{url: url, work: sqliteWork, claims: claims}
	b.close = func() error { return errors.Join(claims.Close(), db.Close()) }
	b.effects = func(ctx context.Context) (map[string]int, error) { return countRows(ctx, db) }

	// No key and no uniqueness: a second effect of a run would be a second row.
	if _, err := db.ExecContext(ctx, `CREATE TABLE effects (run TEXT NOT NULL)`); err != nil {
		return nil, errors.Join(fmt.Errorf("create the table of effects: %w", err), b.close())
	}

	return b, nil
}

func countRows(ctx context.Context, db *sql.DB) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, `SELECT run, count(*) FROM effects GROUP BY run`)
	if err != nil {
		return nil, fmt.Errorf("count the effects: %w", err)
	}
	defer func() { _ = rows.Close() }()

	counts := map[string]int{}

	for rows.Next() {
		var (
			name string
			n    int
		)
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("count the effects: %w", err)
		}

		counts[name] = n
	}

	return counts, rows.Err()
}

func openFirestore(ctx context.Context) (*backend, error) {
	emulator, err := engines.LaunchFirestore()
	if err != nil {
		return nil, err
	}

	claims, err := firestoreclaim.Open(ctx, "firestore://"+project+"/(default)/scheduler_runs", firestoreclaim.WithClientOptions(emulatorOptions(emulator.Addr())...))
	if err != nil {
		emulator.Close()

		return nil, err
	}

	b := &backend{
		url:    "firestore://" + project + "/(default)/scheduler_runs",
		work:   firestoreWork,
		env:    []string{"FIRESTORE_EMULATOR_HOST=" + emulator.Addr()},
		claims: claims,
	}
	b.effects = func(ctx context.Context) (map[string]int, error) { return countDocuments(ctx, claims.Client()) }
	b.close = func() error {
		err := claims.Close()
		emulator.Close()

		return err
	}

	return b, nil
}

// emulatorOptions reach an emulator without credentials, whatever the environment says.
func emulatorOptions(addr string) []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

func countDocuments(ctx context.Context, client *firestore.Client) (map[string]int, error) {
	all, err := client.Collection("effects").Documents(ctx).GetAll()
	if err != nil {
		return nil, fmt.Errorf("count the effects: %w", err)
	}

	counts := map[string]int{}

	for _, doc := range all {
		var effect struct {
			Run string `firestore:"run"`
		}
		if err := doc.DataTo(&effect); err != nil {
			return nil, fmt.Errorf("read effect %s: %w", doc.Ref.ID, err)
		}

		counts[effect.Run]++
	}

	return counts, nil
}
