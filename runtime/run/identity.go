package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Format says how the name of a run is built. The zero value means FormatV1.
type Format string

const (
	// FormatV1 names project, region, job and schedule time.
	FormatV1 Format = "v1"
	// FormatSample is the key of Google's published handler: job and schedule time as the header spelled it. It keeps forced runs
	// under the name of the scheduled one and holds only one project and region in a collection.
	FormatSample Format = "sample"
)

// Identity is what tells one run from all others.
type Identity struct {
	// Project, Region and Job name the job. With a Scope, or in the sample's format, those that the name does not hold may be empty.
	Project, Region, Job string
	// Scope, when not empty, replaces project, region and job in the name: several jobs then share their runs.
	Scope string
	// ScheduleTime is the time that the run is due, in any zone.
	ScheduleTime time.Time
	// RawTime is the schedule time as the header spelled it. Only the sample's format uses it; empty there: FormatTime(ScheduleTime).
	RawTime string
	// Forced marks a run that was asked for ahead of its time and is kept apart from the scheduled one.
	Forced bool
	// Format is how the name is built; empty: FormatV1.
	Format Format
}

// Name returns the name of the run. All parts are checked against their alphabets first, so that no two runs can share a name by
// way of a separator inside a part; the error is a [*NameError].
func (i Identity) Name() (string, error) {
	if err := i.check(); err != nil {
		return "", err
	}
	var space [192]byte // most names fit, and then only the text itself is allocated
	name := space[:0]
	switch {
	case i.Format == FormatSample:
		name = append(append(name, i.Job...), '/')
		if i.RawTime != "" {
			return string(append(name, i.RawTime...)), nil
		}
		return string(appendTime(name, i.ScheduleTime)), nil
	case i.Scope != "":
		name = append(append(name, "scopes/"...), i.Scope...)
	default:
		name = append(append(name, "projects/"...), i.Project...)
		name = append(append(name, "/locations/"...), i.Region...)
		name = append(append(name, "/jobs/"...), i.Job...)
	}
	class := "/runs/"
	if i.Forced {
		class = "/forced/"
	}
	return string(appendTime(append(name, class...), i.ScheduleTime)), nil
}

// ID returns the id of a name: its SHA-256 in lower-case hex.
func ID(name string) string {
	var space [192]byte
	sum := sha256.Sum256(append(space[:0], name...))
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// KeyName returns the name of an API request that carries an idempotency key. Both parts are hashed, so any text is allowed in
// them and none of it shows in the name.
func KeyName(tenant, key string) string {
	return "keys/" + ID(tenant) + "/" + ID(key)
}

// WebhookPrefix is what the names of webhook events begin with.
const WebhookPrefix = "webhooks/"

// WebhookName returns the name of a webhook event: what sent it, and the id that it gave the event, which all deliveries and replays
// of the event share. Both parts are hashed, so any text is allowed in them.
func WebhookName(source, webhookID string) string {
	return WebhookPrefix + ID(source) + "/" + ID(webhookID)
}

// FormatTime writes a time as names hold it: RFC 3339 in UTC, without a fraction when that is zero.
func FormatTime(t time.Time) string {
	return string(appendTime(nil, t))
}

func appendTime(to []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(to, time.RFC3339Nano)
}

// NameError says which part of a name is outside its alphabet.
type NameError struct {
	// Part is the part's name: project, region, job, scope, schedule time or format.
	Part string
	// Value is the text that was refused.
	Value string
	// Allowed is what the part may hold, in the notation of regular expressions or in words.
	Allowed string
}

// Error names the part, the value and what is allowed.
func (e *NameError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s of the run is empty: it must be %s", e.Part, e.Allowed)
	}
	return fmt.Sprintf("%s of the run is %s: it must be %s", e.Part, quote(e.Value), e.Allowed)
}

// quote bounds what of a refused value is repeated in an error.
func quote(s string) string {
	const most = 100
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}
