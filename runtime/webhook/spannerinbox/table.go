package spannerinbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/spanner"
	database "cloud.google.com/go/spanner/admin/database/apiv1"
	databasepb "cloud.google.com/go/spanner/admin/database/apiv1/databasepb"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
)

// shards is over how many ranges of the index the due times are spread.
const shards = 16

// Suffixes of the names that stand beside the table's.
const (
	indexSuffix    = "_due"
	entitiesSuffix = "_entities"
	partsSuffix    = "_parts"
)

// columnsDDL are the columns that an inbox has beside those of a claim table.
var columnsDDL = fmt.Sprintf(`,
  source        STRING(MAX) NOT NULL,
  webhook_id    STRING(MAX) NOT NULL,
  payload       BYTES(MAX) NOT NULL,
  content_type  STRING(MAX),
  received_at   TIMESTAMP NOT NULL,
  conflicts     INT64 NOT NULL,
  due_at        TIMESTAMP AS (IF(status IN ('released', 'in_progress'), lease_expires, NULL)) STORED,
  shard         INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT(id), %d))) STORED`, shards)

// DDL returns the statements that create the tables and the index of the inbox a URL names.
func DDL(url string) (string, error) {
	_, statements, err := ddl(url)
	if err != nil {
		return "", fmt.Errorf("spannerinbox: %w", err)
	}

	return strings.Join(statements, ";\n") + ";\n", nil
}

// ddl are the statements one by one. The columns of a claim are those that package spannerclaim writes.
func ddl(url string) (location, []string, error) {
	loc, err := parse(url)
	if err != nil {
		return location{}, nil, err
	}

	claims, err := spannerclaim.DDL(loc.url)
	if err != nil {
		return location{}, nil, err
	}

	const key = "\n) PRIMARY KEY"
	head, tail, _ := strings.Cut(strings.TrimSuffix(claims, ";\n"), key)

	return loc, []string{
		head + columnsDDL + key + tail,
		fmt.Sprintf("CREATE NULL_FILTERED INDEX IF NOT EXISTS `%s%s` ON `%s` (shard, due_at)", loc.table, indexSuffix, loc.table),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS `%s%s` ("+`
  entity        STRING(MAX) NOT NULL,
  event_time    TIMESTAMP NOT NULL,
  id            STRING(MAX) NOT NULL
) PRIMARY KEY (entity)`, loc.table, entitiesSuffix),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS `%s%s` ("+`
  entity        STRING(MAX) NOT NULL,
  id            STRING(MAX) NOT NULL,
  event         STRING(MAX) NOT NULL,
  added_at      TIMESTAMP NOT NULL
) PRIMARY KEY (entity, id)`, loc.table, partsSuffix),
	}, nil
}

// Init creates the tables of the inbox that the URL names, and their index, where they are missing, with the row deletion policy. It
// needs roles/spanner.databaseAdmin.
func Init(ctx context.Context, url string, opts ...Option) error {
	loc, statements, err := ddl(url)
	if err != nil {
		return fmt.Errorf("init spanner inbox: %w", err)
	}

	admin, err := database.NewDatabaseAdminClient(ctx, collect(opts)...)
	if err != nil {
		return fmt.Errorf("init spanner inbox %s in %s: %w", loc.table, loc.database, err)
	}

	op, err := admin.UpdateDatabaseDdl(ctx, &databasepb.UpdateDatabaseDdlRequest{Database: loc.database, Statements: statements})
	if err == nil {
		err = op.Wait(ctx)
	}

	if err = errors.Join(err, admin.Close()); err != nil {
		return fmt.Errorf("init spanner inbox %s in %s: %w", loc.table, loc.database, err)
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
		return fmt.Errorf("the table %s is missing, create it with `terraform-provider-idempotent webhooks init`: %w", table, err)
	case strings.Contains(text, "Column not found"):
		return fmt.Errorf("the table %s is not that of an inbox, name another one with ?table=NAME: %w", table, err)
	default:
		return err
	}
}
