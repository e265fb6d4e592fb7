package scheduled

import (
	"encoding/json"
	"strconv"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// body is what a reply says, as a JSON object: on success what became of the run, else a problem in the sense of RFC 9457. What is
// empty is left out.
type body struct {
	Title   string
	Status  int
	Outcome claim.Outcome
	Detail  string
	Mend    string
	Run     string
	RunID   string
	Attempt int
}

// appendJSON writes the body without reflection: it is written once a delivery.
func (b body) appendJSON(to []byte) []byte {
	to = append(to, '{')
	start := len(to)
	for _, m := range [...]struct {
		name, text string
		number     int
	}{
		{"title", b.Title, 0}, {"status", "", b.Status}, {"outcome", string(b.Outcome), 0}, {"detail", b.Detail, 0}, {"mend", b.Mend, 0},
		{"run", b.Run, 0}, {"run_id", b.RunID, 0}, {"attempt", "", b.Attempt},
	} {
		if m.text == "" && m.number == 0 {
			continue
		}
		if len(to) > start {
			to = append(to, ',')
		}
		to = append(append(append(to, '"'), m.name...), '"', ':')
		if m.text != "" {
			to = appendText(to, m.text)
		} else {
			to = strconv.AppendInt(to, int64(m.number), 10)
		}
	}
	return append(to, '}')
}

// appendText writes a JSON string: as it is where it holds nothing that JSON or HTML give a meaning to.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil { // texts always marshal
				text = []byte(`""`)
			}
			return append(to, text...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}
