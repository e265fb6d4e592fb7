package unixcron

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// zoneNames are the names of the tz database, one a line: a program can load zones but not list them, and an error is to propose
// names.
//
//go:embed zones.txt
var zoneNames string

// loadedZones keeps the zones that were asked for, since reading one parses a file. Only names of the tz database get in.
var loadedZones sync.Map // of name to *time.Location

// ZoneError says that a name is none of the tz database's.
type ZoneError struct {
	// Name is the name as given.
	Name string
	// Near are names that may have been meant, the likeliest first. Empty: none comes near.
	Near []string
}

// Error is one sentence with the names that may have been meant.
func (e *ZoneError) Error() string {
	message := "time zone " + quote(e.Name) + " is not in the tz database"
	if len(e.Near) == 0 {
		return message + "; write a name such as \"Europe/Berlin\" or \"Etc/UTC\""
	}

	quoted := make([]string, 0, len(e.Near))
	for _, name := range e.Near {
		quoted = append(quoted, strconv.Quote(name))
	}

	return message + "; did you mean " + strings.Join(quoted, " or ") + "?"
}

// LoadLocation is the zone of a name of the tz database. An empty name and the spellings of UTC that Cloud Scheduler takes for one
// are [time.UTC]. The zone of the machine is not to be had: a schedule must mean the same everywhere. The error is a [*ZoneError] if
// no zone has the name; names differ by case. Another error means that the program finds no tz database: its main package imports
// time/tzdata to carry one.
func LoadLocation(name string) (*time.Location, error) {
	if CanonicalZone(name) == utcZone {
		return time.UTC, nil
	}

	if loc, ok := loadedZones.Load(name); ok {
		return loc.(*time.Location), nil //nolint:forcetypeassert // nothing else is stored
	}

	loc, err := time.LoadLocation(name)
	known := isZone(name)

	switch {
	case err == nil && name != "Local" && (known || !knownByCase(name)):
		if known {
			loadedZones.Store(name, loc)
		}

		return loc, nil
	case known:
		return nil, fmt.Errorf("load time zone %s, which the tz database holds: %w", name, err)
	default:
		return nil, &ZoneError{Name: name, Near: nearZones(name)}
	}
}

const utcZone = "Etc/UTC"

// CanonicalZone is "Etc/UTC" for an empty name and for every spelling of it that Cloud Scheduler takes for the same, and any other
// name unchanged. It does not look whether the zone exists.
func CanonicalZone(name string) string {
	if name == "" || name == utcZone || strings.EqualFold(name, "UTC") {
		return utcZone
	}

	return name
}

func isZone(name string) bool {
	return name != "" && !strings.Contains(name, "\n") && strings.Contains("\n"+zoneNames, "\n"+name+"\n")
}

// knownByCase reports whether a name is wrong only in its upper and lower case, which some file systems forgive and the server does
// not.
func knownByCase(name string) bool {
	for known := range strings.Lines(zoneNames) {
		if known = strings.TrimSuffix(known, "\n"); known != name && strings.EqualFold(known, name) {
			return true
		}
	}

	return false
}
