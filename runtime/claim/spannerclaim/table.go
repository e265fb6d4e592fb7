package spannerclaim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/spanner"
	database "cloud.google.com/go/spanner/admin/database/apiv1"
	databasepb "cloud.google.com/go/spanner/admin/database/apiv1/databasepb"
	"google.golang.org/grpc/codes"
)

// DDL returns the statement that creates the table a URL names.
func DDL(url string) (string, error) {
	loc, err := parse(url)
	if err != nil {
		return "", err
	}

	return ddl(loc.table) + ";\n", nil
}

// ddl creates a table. The lease is in microseconds.
func ddl(table string) string {
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS `%s` ("+`
  id            STRING(MAX) NOT NULL,
  status        STRING(MAX) NOT NULL,
  attempt_id    STRING(MAX) NOT NULL,
  attempt       INT64 NOT NULL,
  counted       INT64 NOT NULL,
  rev           INT64 NOT NULL,
  written_at    TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true),
  lease         INT64 NOT NULL,
  lease_expires TIMESTAMP,
  expire_at     TIMESTAMP,
  claimed_at    TIMESTAMP,
  holder        STRING(MAX),
  run           STRING(MAX),
  last_error    STRING(MAX),
  fingerprint   STRING(MAX),
  result        BYTES(MAX)
) PRIMARY KEY (id), ROW DELETION POLICY (OLDER_THAN(expire_at, INTERVAL 0 DAY))`, table)
}

// Init creates the table that the URL names where it is missing, with its row deletion policy. It needs roles/spanner.databaseAdmin.
func Init(ctx context.Context, url string, opts ...Option) error {
	loc, err := parse(url)
	if err != nil {
		return err
	}

	admin, err := database.NewDatabaseAdminClient(ctx, collect(opts)...)
	if err != nil {
		return fmt.Errorf("create table %s in %s: %w", loc.table, loc.database, err)
	}

	op, err := admin.UpdateDatabaseDdl(ctx, &databasepb.UpdateDatabaseDdlRequest{
		Database: loc.database, Statements: []string{ddl(loc.table)},
	})
	if err == nil {
		err = op.Wait(ctx)
	}

	if err = errors.Join(err, admin.Close()); err != nil {
		return fmt.Errorf("create table %s in %s: %w", loc.table, loc.database, err)
	}

	return nil
}

// explain adds the mend to what a missing or foreign table makes the server say.
func explain(err error, table string) error {
	if code := spanner.ErrCode(err); code != codes.NotFound && code != codes.InvalidArgument {
		return err
	}

	switch text := err.Error(); {
	case strings.Contains(text, "Table not found"):
		return fmt.Errorf("the table %s is missing, create it with `terraform-provider-idempotent runs init`: %w", table, err)
	case strings.Contains(text, "Column not found"):
		return fmt.Errorf("the table %s is not one of claims, name another one with ?table=NAME: %w", table, err)
	default:
		return err
	}
}
