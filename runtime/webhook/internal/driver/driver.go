// Package driver is what the inbox packages have in common.
package driver

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// maxTable leaves room for the names of what belongs to a table: databases cut longer names off.
const maxTable = 50

// CheckTable checks the length of a table's name; the claim packages check the rest.
func CheckTable(name string) error {
	if len(name) > maxTable {
		return fmt.Errorf("table name of %d bytes: an inbox has tables and indexes named after it, so %d are the most", len(name), maxTable)
	}
	return nil
}

// Table returns the URL of a claim store with a table parameter, added where there was none, and the table. What else is wrong with the
// URL is left to the claim package to say.
func Table(raw string) (withTable, table string, err error) {
	base, text, _ := strings.Cut(raw, "?")
	query, err := url.ParseQuery(text)
	switch {
	case err != nil || query.Has("table"):
		table = query.Get("table")
		return raw, table, CheckTable(table)
	case text == "":
		return base + "?table=" + webhook.DefaultTable, webhook.DefaultTable, nil
	default:
		return raw + "&table=" + webhook.DefaultTable, webhook.DefaultTable, nil
	}
}

// InboxURL is what a claim package says of a URL, with the default table of an inbox in place of the one of claims.
func InboxURL(err error) error {
	type urlError interface {
		error
		WithDefaultTable(name string) error
	}
	if e, ok := errors.AsType[urlError](err); ok {
		return e.WithDefaultTable(webhook.DefaultTable)
	}
	return err
}

// CheckPayload refuses a payload of more than most bytes.
func CheckPayload(e webhook.Entry, most int) error {
	if len(e.Payload) > most {
		return fmt.Errorf("%w: payload of %d bytes, the inbox takes %d", claim.ErrTooLarge, len(e.Payload), most)
	}
	return nil
}

// CheckState refuses the state of an entity that no event can have.
func CheckState(entity string, eventTime time.Time, id string) error {
	if eventTime.IsZero() {
		return errors.New("event time is zero: take it from the payload")
	}
	if year := eventTime.UTC().Year(); year < 0 || year > 9999 {
		return fmt.Errorf("event time is in the year %d, which not every store can keep", year)
	}
	return CheckPart(entity, id)
}

// CheckPart refuses an entity or id that is empty.
func CheckPart(entity, id string) error {
	if entity == "" || id == "" {
		return errors.New("entity and id must not be empty")
	}
	return nil
}
