package unixcron_test

import (
	"archive/zip"
	"errors"
	"go/build"
	"os"
	"path/filepath"

	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need zones on machines without a database

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func zoneList(tb testing.TB) []string {
	tb.Helper()

	text, err := os.ReadFile("zones.txt")
	if err != nil {
		tb.Fatal(err)
	}

	return strings.Fields(string(text))
}

func TestEveryZoneOfTheListLoads(t *testing.T) {
	t.Parallel()

	zones := zoneList(t)
	if !slices.IsSorted(zones) || len(zones) < 500 {
		t.Fatalf("the list has %d names, sorted: %v", len(zones), slices.IsSorted(zones))
	}

	for _, name := range zones {
		if _, err := unixcron.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}

func TestTheListHoldsTheZonesThatGoCarries(t *testing.T) {
	t.Parallel()

	archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this Go installation is without lib/time/zoneinfo.zip")
	}

	if err != nil {
		t.Fatal(err)
	}

	defer archive.Close()

	zones := zoneList(t)

	for _, file := range archive.File {
		if _, listed := slices.BinarySearch(zones, file.Name); !listed && !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			t.Errorf("zones.txt lacks %s", file.Name)
		}
	}
}

func TestSpellingsOfUTCAreOneZone(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"", "UTC", "utc", "Utc", "Etc/UTC"} {
		loc, err := unixcron.LoadLocation(name)
		if err != nil || loc != time.UTC {
			t.Errorf("%q loads as %v, %v", name, loc, err)
		}

		if got := unixcron.CanonicalZone(name); got != "Etc/UTC" {
			t.Errorf("%q is canonically %q", name, got)
		}
	}

	for _, name := range []string{"Europe/Berlin", "GMT", "nowhere"} {
		if got := unixcron.CanonicalZone(name); got != name {
			t.Errorf("%q is canonically %q", name, got)
		}
	}
}

func TestZonesThatDoNotExistAreRefusedWithNearNames(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"Europe/Berln":     `time zone "Europe/Berln" is not in the tz database; did you mean "Europe/Berlin"?`,
		"europe/berlin":    `time zone "europe/berlin" is not in the tz database; did you mean "Europe/Berlin"?`,
		"Berlin":           `time zone "Berlin" is not in the tz database; did you mean "Europe/Berlin"?`,
		"America/New York": `time zone "America/New York" is not in the tz database; did you mean "America/New_York"?`,
		"Asia/Calcuta":     `time zone "Asia/Calcuta" is not in the tz database; did you mean "Asia/Calcutta"?`,
		"Europe/New_York":  `time zone "Europe/New_York" is not in the tz database; did you mean "America/New_York"?`,
		"PST":              `time zone "PST" is not in the tz database; did you mean "America/Los_Angeles"?`,
		"UTC+2":            `time zone "UTC+2" is not in the tz database; did you mean "Etc/GMT-2"?`,
		"GMT-05:00":        `time zone "GMT-05:00" is not in the tz database; did you mean "Etc/GMT+5"?`,
		"+03:00":           `time zone "+03:00" is not in the tz database; did you mean "Etc/GMT-3"?`,
		"+05:30":           `time zone "+05:30" is not in the tz database; write a name such as "Europe/Berlin" or "Etc/UTC"`,
		"Local":            `time zone "Local" is not in the tz database; write a name such as "Europe/Berlin" or "Etc/UTC"`,
		"Mars/Olympus":     `time zone "Mars/Olympus" is not in the tz database; write a name such as "Europe/Berlin" or "Etc/UTC"`,
		"../etc/passwd":    `time zone "../etc/passwd" is not in the tz database; write a name such as "Europe/Berlin" or "Etc/UTC"`,
		"Europe/":          `time zone "Europe/" is not in the tz database; write a name such as "Europe/Berlin" or "Etc/UTC"`,
		"Europe/Berlin\n":  `time zone "Europe/Berlin\n" is not in the tz database; did you mean "Europe/Berlin"?`,
		" Europe/Berlin":   `time zone " Europe/Berlin" is not in the tz database; did you mean "Europe/Berlin"?`,
	} {
		loc, err := unixcron.LoadLocation(name)
		if err == nil {
			t.Errorf("%q loads as %v", name, loc)

			continue
		}

		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", name, err, want)
		}

		var wrong *unixcron.ZoneError
		if !errors.As(err, &wrong) || wrong.Name != name {
			t.Errorf("%q: %#v is not its ZoneError", name, err)
		}
	}
}
