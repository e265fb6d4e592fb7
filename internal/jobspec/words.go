package jobspec

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// words is the path as people write it: without the index of a block that occurs once, a map key in brackets.
func (p Path) words() string {
	var b strings.Builder
	for i, segment := range p {
		name, ok := segment.(string)
		switch {
		case !ok:
		case i > 0 && isMap(p[i-1]):
			fmt.Fprintf(&b, "[%s]", quote(name))
		case b.Len() > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}

func isMap(segment any) bool {
	return segment == "headers" || segment == "headers_wo" || segment == "accepted_risks"
}

// seconds writes a duration as the API does: 180s, 1.5s.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// longestQuote is how many bytes of a value a message repeats.
const longestQuote = 120

func quote(s string) string {
	if len(s) > longestQuote {
		return strconv.Quote(strings.ToValidUTF8(s[:longestQuote], "")) + "…"
	}
	return strconv.Quote(s)
}

// list writes a, b or c in quotes.
func list(items []string, last string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quote(item)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " " + last + " " + quoted[len(quoted)-1]
}

// amount writes a number of things.
func amount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
