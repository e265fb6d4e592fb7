package unixcron

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	mostNear     = 3   // names to propose
	longestZone  = 100 // beyond that a name is not compared: nothing of the database is near
	typoFraction = 4   // one edit for every so many characters may be a slip of the pen
)

// nearZones are the names of the database that may have been meant, the likeliest first.
func nearZones(name string) []string {
	if fixed := fixedOffset(name); fixed != "" {
		return []string{fixed}
	}

	wanted := spelling(name)
	if wanted == "" || len(wanted) > longestZone {
		return nil
	}

	if zone := zoneOfAbbreviation(wanted); zone != "" {
		return []string{zone}
	}

	type candidate struct {
		name  string
		edits int
	}

	var found []candidate

	for known := range strings.Lines(zoneNames) {
		known = strings.TrimSuffix(known, "\n")
		whole := spelling(known)
		place := whole[strings.LastIndexByte(whole, '/')+1:]
		allowed := max(1, len(wanted)/typoFraction)

		edits := distance(wanted, whole)
		if strings.Contains(whole, "/") {
			edits = min(edits, distance(wanted[strings.LastIndexByte(wanted, '/')+1:], place)+1)
		}

		if edits <= allowed && len(place) > edits {
			found = append(found, candidate{known, edits})
		}
	}

	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.edits, b.edits) })

	var names []string

	for _, c := range found {
		if c.edits > found[0].edits+1 || len(names) == mostNear {
			break
		}

		names = append(names, c.name)
	}

	return names
}

// spelling folds what is often got wrong: case, and spaces or hyphens for underscores.
func spelling(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_", "\\", "/").Replace(strings.ToLower(name))
}

// zoneOfAbbreviation is the zone of an abbreviation that has one usual meaning and is no zone itself.
func zoneOfAbbreviation(name string) string {
	switch name {
	case "pst", "pdt", "pt":
		return "America/Los_Angeles"
	case "mdt", "mt":
		return "America/Denver"
	case "cdt", "ct":
		return "America/Chicago"
	case "edt", "et":
		return "America/New_York"
	case "bst":
		return "Europe/London"
	case "cest":
		return "Europe/Berlin"
	case "jst":
		return "Asia/Tokyo"
	case "aest", "aedt":
		return "Australia/Sydney"
	case "z":
		return utcZone
	default:
		return ""
	}
}

// fixedOffset is the zone of UTC+2, GMT-5 or +03:00. The names of the database count to the west: Etc/GMT-2 is two hours ahead.
func fixedOffset(name string) string {
	upper := strings.ToUpper(name)
	rest := strings.TrimPrefix(strings.TrimPrefix(upper, "UTC"), "GMT")

	if len(rest) < 2 || (rest[0] != '+' && rest[0] != '-') {
		return ""
	}

	hours, ok := number(strings.TrimSuffix(rest[1:], ":00"))
	sign := "-"

	if rest[0] == '-' {
		sign = "+"
	}

	zone := "Etc/GMT" + sign + strconv.Itoa(hours)
	if !ok || !isZone(zone) {
		return ""
	}

	return zone
}

// distance is the number of insertions, deletions and replacements between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1

		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}

			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}

	return row[len(b)]
}
