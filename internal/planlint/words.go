package planlint

import (
	"strconv"
	"strings"
	"time"
)

// seconds writes a duration as the API does: 180s, 1.5s.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// longestList is how many addresses a message names.
const longestList = 5

// several writes a, b and c, and how many more there are.
func several(items []string) string {
	if more := len(items) - longestList; more > 0 {
		return strings.Join(items[:longestList], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// amount writes a number of things.
func amount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func addresses(jobs []*job) []string {
	all := make([]string, len(jobs))
	for i, j := range jobs {
		all[i] = j.address
	}
	return all
}
