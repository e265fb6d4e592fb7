package localcloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// diarySuffix makes the name of the diary out of that of the state file.
const diarySuffix = ".deliveries"

// diary keeps the deliveries that have ended, a line each, in a file beside the state: they are too many to be written anew each time.
// It is guarded by the keeper's mutex.
type diary struct {
	path    string
	journal *journal
	written int64 // the revision of the journal that the file shows
	// lines is how many the file has; negative: it must be written anew, since a write failed halfway.
	lines int
}

// load brings back the deliveries of a file, if there is one, and returns the number of the last run among them.
func (d *diary) load() (int64, error) {
	d.lines = -1

	text, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}

	if err != nil {
		return 0, fmt.Errorf("read the deliveries: %w", err)
	}

	// A process that was killed leaves a line without its end, which is no loss: all whole ones are there.
	text = text[:bytes.LastIndexByte(text, '\n')+1]

	var (
		kept    []Delivery
		lastRun int64
	)

	for line := range bytes.Lines(text) {
		var one Delivery

		err = json.Unmarshal(line, &one)
		if err != nil {
			return 0, fmt.Errorf("the deliveries in %s cannot be used: line %d: %w: delete the file to begin anew", d.path, len(kept)+1, err)
		}

		kept = append(kept, one)
		lastRun = max(lastRun, one.Run)
	}

	d.journal.restore(kept)

	return lastRun, nil
}

// write brings the file up to date: by what is new, or as a whole once most of it is forgotten.
func (d *diary) write() error {
	since := d.written

	anew := d.lines < 0 || d.lines > 2*d.journal.limit
	if anew {
		since = 0
	}

	latest, revision := d.journal.since(since, d.journal.limit)
	latest = slices.DeleteFunc(latest, Delivery.InFlight) // they come again when they have ended

	var text bytes.Buffer

	encoder := json.NewEncoder(&text)
	for _, one := range latest {
		err := encoder.Encode(one)
		if err != nil {
			return fmt.Errorf("encode delivery %d: %w", one.ID, err)
		}
	}

	err := d.put(text.Bytes(), anew)
	if err != nil {
		d.lines = -1

		return fmt.Errorf("keep the deliveries: %w", err)
	}

	if anew {
		d.lines = 0
	}

	d.lines += len(latest)
	d.written = revision

	return nil
}

func (d *diary) put(text []byte, anew bool) error {
	switch {
	case anew:
		return replaceFile(d.path, text)
	case len(text) == 0:
		return nil
	}

	file, err := os.OpenFile(d.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // answers may hold secrets
	if err != nil {
		return err
	}

	_, err = file.Write(text)

	return errors.Join(err, file.Close())
}

// restore puts deliveries of an earlier cloud before all others. It is called before there are any.
func (l *journal) restore(kept []Delivery) {
	slices.SortStableFunc(kept, func(a, b Delivery) int { return cmp.Compare(a.ID, b.ID) })
	kept = slices.CompactFunc(kept, func(a, b Delivery) bool { return a.ID == b.ID })
	kept = kept[max(0, len(kept)-l.limit):]

	l.mu.Lock()
	defer l.mu.Unlock()

	for _, one := range kept {
		l.lastID = one.ID
		l.revision++
		l.entries = append(l.entries, &entry{Delivery: one, revision: l.revision})
	}
}
