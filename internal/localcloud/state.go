package localcloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const (
	stateVersion = 1
	// statePace gathers changes that come together; deliveryPace gathers deliveries, of which more come.
	statePace    = 200 * time.Millisecond
	deliveryPace = time.Second
)

// savedState is what the state file holds.
type savedState struct {
	Version int `json:"version"`
	// Ahead is how far the clock was ahead of real time. A clock that stands has Now instead.
	Ahead  duration          `json:"ahead,omitzero"`
	Now    time.Time         `json:"now,omitzero"`
	Jobs   []json.RawMessage `json:"jobs"`
	Fields []json.RawMessage `json:"fields"`
}

// keeper writes the state to a file when it has changed. A nil keeper keeps nothing.
type keeper struct {
	path  string
	cloud *Cloud
	dirty chan struct{}
	held  *os.File

	mu    sync.Mutex // one write at a time
	diary *diary
}

// newKeeper takes the files for this process, and brings back what they hold. They are let go of by [keeper.close].
func newKeeper(path string, c *Cloud) (*keeper, error) {
	held, err := hold(path, c.URL())
	if err != nil {
		return nil, err
	}

	k := &keeper{
		path: path, cloud: c, dirty: make(chan struct{}, 1), held: held,
		diary: &diary{path: path + diarySuffix, journal: c.scheduler.deliveries},
	}

	err = k.load()
	if err != nil {
		return nil, errors.Join(err, k.close())
	}

	return k, nil
}

func (k *keeper) load() error {
	// Deliveries come first: a job may be due as soon as it is there.
	lastRun, err := k.diary.load()
	if err != nil {
		return err
	}

	s := k.cloud.scheduler
	s.mu.Lock()
	s.lastRun = lastRun
	s.mu.Unlock()

	err = k.cloud.loadState(k.path)
	if err != nil {
		return err
	}

	// What cannot be written is found out now and not when everything is lost.
	return k.save()
}

// close lets go of the files. Nothing is written after it.
func (k *keeper) close() error {
	if k == nil {
		return nil
	}

	return k.held.Close()
}

// changed says that there is something to write.
func (k *keeper) changed() {
	if k == nil {
		return
	}

	select {
	case k.dirty <- struct{}{}:
	default:
	}
}

// run writes until ctx ends.
func (k *keeper) run(ctx context.Context) {
	delivered := k.diary.journal.changes.changed()

	for {
		select {
		case <-k.dirty:
			_ = sleep(ctx, statePace)
		case <-delivered:
			_ = sleep(ctx, deliveryPace)
		case <-ctx.Done():
			return
		}

		delivered = k.diary.journal.changes.changed()

		err := k.save()
		if err != nil {
			k.cloud.cfg.Logger.Error("the state is not kept", "error", err)
		}
	}
}

// save writes the state, and the deliveries that have ended meanwhile.
func (k *keeper) save() error {
	if k == nil {
		return nil
	}

	k.mu.Lock()
	defer k.mu.Unlock()

	text, err := k.cloud.encodeState()
	if err != nil {
		return err
	}

	err = replaceFile(k.path, text)
	if err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}

	return k.diary.write()
}

// replaceFile replaces a file as a whole, so that whoever reads it finds the one or the other. It is for its owner alone, since jobs hold
// headers.
func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}

	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Close())

	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}

	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}

	return nil
}

func (c *Cloud) encodeState() ([]byte, error) {
	state := savedState{Version: stateVersion, Jobs: []json.RawMessage{}, Fields: []json.RawMessage{}}

	switch clock := c.cfg.Clock; {
	case !clock.Running():
		state.Now = clock.Now().UTC()
	case clock.Moved():
		state.Ahead = duration(time.Until(clock.Now()).Round(time.Millisecond))
	}

	for _, message := range c.scheduler.all() {
		text, err := protojson.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("encode job %s: %w", message.GetName(), err)
		}

		state.Jobs = append(state.Jobs, text)
	}

	for _, message := range c.fields.all() {
		text, err := protojson.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("encode field %s: %w", message.GetName(), err)
		}

		state.Fields = append(state.Fields, text)
	}

	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}

	return append(text, '\n'), nil
}

// loadState brings back what a file holds, if there is one.
func (c *Cloud) loadState(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}

	err = c.decodeState(text)
	if err != nil {
		return fmt.Errorf("the state in %s cannot be used: %w: correct the file, or delete it to begin anew", path, err)
	}

	return nil
}

func (c *Cloud) decodeState(text []byte) error {
	var state savedState

	err := json.Unmarshal(text, &state)
	if err != nil {
		return err
	}

	if state.Version != stateVersion {
		return fmt.Errorf("its version is %d, and this program knows %d", state.Version, stateVersion)
	}

	if clock := c.cfg.Clock; clock.Running() {
		clock.Move(time.Now().Add(time.Duration(state.Ahead)))
	} else {
		clock.Move(state.Now)
	}

	for _, raw := range state.Jobs {
		message := &schedulerpb.Job{}

		err = protojson.Unmarshal(raw, message)
		if err == nil {
			err = c.scheduler.restore(message)
		}

		if err != nil {
			return fmt.Errorf("job %q: %s", message.GetName(), status.Convert(err).Message())
		}
	}

	for _, raw := range state.Fields {
		message := &adminpb.Field{}

		err = protojson.Unmarshal(raw, message)
		if err == nil {
			_, err = groupOf(message.GetName())
		}

		if err != nil {
			return fmt.Errorf("field %q: %s", message.GetName(), status.Convert(err).Message())
		}

		c.fields.restore(message)
	}

	return nil
}

// all is every stored job, by name.
func (s *scheduler) all() []*schedulerpb.Job {
	s.mu.Lock()
	defer s.mu.Unlock()

	out := make([]*schedulerpb.Job, 0, len(s.jobs))
	for _, j := range s.jobs {
		out = append(out, j.pb)
	}

	slices.SortFunc(out, func(a, b *schedulerpb.Job) int { return strings.Compare(a.GetName(), b.GetName()) })

	return out
}

// restore stores a job as it was.
func (s *scheduler) restore(stored *schedulerpb.Job) error {
	checked, times, err := prepare(stored)
	if err != nil {
		return err
	}

	checked.State = stored.GetState()

	s.mu.Lock()
	defer s.mu.Unlock()

	j := &job{pb: checked, timetable: times}
	s.jobs[checked.GetName()] = j
	s.arm(j, s.cfg.Clock.Now())

	return nil
}

// all is every field with settings of its own, by name. Operations are over when a cloud starts again.
func (f *fields) all() []*adminpb.Field {
	f.mu.Lock()
	defer f.mu.Unlock()

	out := make([]*adminpb.Field, 0, len(f.stored))

	for _, stored := range f.stored {
		kept, _ := proto.Clone(stored).(*adminpb.Field)
		out = append(out, kept)
	}

	slices.SortFunc(out, func(a, b *adminpb.Field) int { return strings.Compare(a.GetName(), b.GetName()) })

	return out
}

func (f *fields) restore(stored *adminpb.Field) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.stored[stored.GetName()] = stored
}
