package scheduled

import (
	"encoding/json"
	"testing"
)

// FuzzBody holds the bodies of replies to what encoding/json reads and writes.
func FuzzBody(f *testing.F) {
	f.Add("Internal Server Error", 500, "the store said \"no\"\n", "a/b", 0)
	f.Add("", 0, "<b>ä\u2028\xff&\\", "", 3)
	f.Add("", 0, "", "", 0)
	f.Add("ä", 0, "\xff", "\u007f", 0) // nothing else in it that JSON gives a meaning to
	f.Fuzz(func(t *testing.T, title string, status int, detail, run string, attempt int) {
		text := body{Title: title, Status: status, Detail: detail, Run: run, Attempt: attempt}.appendJSON(nil)
		want, err := json.Marshal(struct {
			Title   string `json:"title,omitempty"`
			Status  int    `json:"status,omitempty"`
			Detail  string `json:"detail,omitempty"`
			Run     string `json:"run,omitempty"`
			Attempt int    `json:"attempt,omitempty"`
		}{title, status, detail, run, attempt})
		if err != nil || string(text) != string(want) {
			t.Errorf("got %s; want %s (%v)", text, want, err)
		}
	})
}
