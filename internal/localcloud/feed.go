package localcloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
)

const (
	// feedPace is the least time between two looks for one page, and feedCheck the most.
	feedPace  = 50 * time.Millisecond
	feedCheck = 500 * time.Millisecond
	// feedWrite is how long a page may take to read what it is sent, before it is cut off: it comes back and starts afresh.
	feedWrite = 10 * time.Second
	// feedClients is how many pages may watch at once.
	feedClients = 64
	// feedDeliveries is how many deliveries a page is shown at most.
	feedDeliveries = 1000
	// feedPulse is how often a page hears that the cloud is there, by which it notices when it is not.
	feedPulse = 5 * time.Second
)

// jobView is a job as the page shows it.
type jobView struct {
	Name     string    `json:"name"`
	Short    string    `json:"short"`
	Schedule string    `json:"schedule"`
	Zone     string    `json:"zone"`
	State    string    `json:"state"`
	Next     time.Time `json:"next,omitzero"`
	Target   string    `json:"target,omitempty"`
}

// deliveryView is a delivery as the time line shows it. What else is known is asked for by its id.
type deliveryView struct {
	ID      int64     `json:"id"`
	Job     string    `json:"job"`
	Run     int64     `json:"run"`
	Name    string    `json:"name,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Forced  bool      `json:"forced,omitempty"`
	Number  int       `json:"number"`
	Copy    int       `json:"copy,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Clock   time.Time `json:"clock"`
	Status  int       `json:"status,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
	Fault   FaultKind `json:"fault,omitempty"`
	Error   string    `json:"error,omitempty"`
	// Lease is how long a claim holds, in seconds.
	Lease float64 `json:"lease,omitempty"`
}

// stateView is everything else that the page shows.
type stateView struct {
	Now     time.Time `json:"now"`
	Moved   bool      `json:"moved"`
	Running bool      `json:"running"`
	Faults  []Fault   `json:"faults"`
	Random  Random    `json:"random"`
	Problem string    `json:"problem,omitempty"`
}

// feed is what one page has been sent.
type feed struct {
	cloud      *Cloud
	out        *http.ResponseController
	w          http.ResponseWriter
	jobs       map[string]jobView
	deliveries int64
	claims     int64
	state      []byte
	pulse      time.Time
}

// serveEvents sends a page what there is and then what changes, as server-sent events. Each look takes what is new since the one
// before, so a slow page costs no memory and misses nothing but what was overtaken meanwhile.
func (c *Cloud) serveEvents(w http.ResponseWriter, r *http.Request) {
	if c.pages.Add(1) > feedClients {
		c.pages.Add(-1)
		writeError(w, http.StatusServiceUnavailable, codes.Unavailable.String(), "Too many pages are watching already.", nil)

		return
	}
	defer c.pages.Add(-1)

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")

	f := &feed{cloud: c, out: http.NewResponseController(w), w: w, jobs: map[string]jobView{}}

	err := f.send("hello", map[string]any{"store": c.cfg.Store != nil, "url": c.URL()})
	for err == nil {
		deliveries, claims := c.scheduler.deliveries.changes.changed(), c.watcher.changes.changed()

		err = f.look()
		if err != nil || sleep(r.Context(), feedPace) != nil {
			return
		}

		check := time.NewTimer(feedCheck)
		select {
		case <-deliveries:
		case <-claims:
		case <-check.C:
		case <-r.Context().Done():
			err = r.Context().Err()
		case <-c.scheduler.ctx.Done():
			err = errClosed
		}

		check.Stop()
	}
}

// look sends what has changed since the look before.
func (f *feed) look() error {
	changed, gone := f.cloud.scheduler.changedJobs(f.jobs)
	if len(changed)+len(gone) > 0 {
		err := f.send("jobs", map[string]any{"changed": changed, "gone": gone})
		if err != nil {
			return err
		}
	}

	latest, revision := f.cloud.scheduler.deliveries.since(f.deliveries, feedDeliveries)
	f.deliveries = revision

	if len(latest) > 0 {
		views := make([]deliveryView, 0, len(latest))
		for _, d := range latest {
			views = append(views, newDeliveryView(d))
		}

		err := f.send("deliveries", views)
		if err != nil {
			return err
		}
	}

	claims, revision, problem := f.cloud.watcher.since(f.claims)
	f.claims = revision

	if len(claims) > 0 {
		err := f.send("claims", claims)
		if err != nil {
			return err
		}
	}

	return f.sendState(problem)
}

// sendState sends the state when more than a running clock changed in it, and now and then all the same.
func (f *feed) sendState(problem string) error {
	clock := f.cloud.cfg.Clock
	state := stateView{
		Moved: clock.Moved(), Running: clock.Running(), Faults: f.cloud.scheduler.faults.pending(), Random: f.cloud.scheduler.random.view(),
		Problem: problem,
	}

	if !state.Running {
		state.Now = clock.Now().UTC()
	}

	same, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}

	offset := time.Until(clock.Now()).Round(time.Second).String()

	same = append(same, offset...)
	if bytes.Equal(same, f.state) && time.Since(f.pulse) < feedPulse {
		return nil
	}

	f.state, f.pulse = same, time.Now()
	state.Now = clock.Now().UTC()

	return f.send("state", state)
}

func (f *feed) send(event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode the event %s: %w", event, err)
	}

	err = f.out.SetWriteDeadline(time.Now().Add(feedWrite))
	if err != nil {
		return fmt.Errorf("bound a write: %w", err)
	}

	_, err = fmt.Fprintf(f.w, "event: %s\ndata: %s\n\n", event, text)
	if err != nil {
		return fmt.Errorf("send the event %s: %w", event, err)
	}

	err = f.out.Flush()
	if err != nil {
		return fmt.Errorf("send the event %s: %w", event, err)
	}

	return nil
}

func newDeliveryView(d Delivery) deliveryView {
	named := nameRun(d)

	return deliveryView{
		ID: d.ID, Job: d.Job, Run: d.Run, Name: named.name, At: d.ScheduleTime, Forced: d.Forced, Number: d.Number, Copy: d.Copy,
		Started: d.Started.UTC(), Ended: d.Ended.UTC(), Clock: d.Clock.UTC(), Status: d.Status, Outcome: d.Outcome, Fault: d.Fault,
		Error: d.Error, Lease: named.lease.Seconds(),
	}
}

// changedJobs returns the jobs that differ from those that were known, and the names of those that are gone, and brings what is known
// up to date.
func (s *scheduler) changedJobs(known map[string]jobView) ([]jobView, []string) {
	s.mu.Lock()
	now := make(map[string]*schedulerpb.Job, len(s.jobs))

	for name, j := range s.jobs {
		now[name] = j.pb
	}

	s.mu.Unlock()

	var (
		changed []jobView
		gone    []string
	)

	for name, pb := range now {
		view := newJobView(pb)
		if known[name] != view {
			known[name] = view
			changed = append(changed, view)
		}
	}

	for name := range known {
		if now[name] == nil {
			delete(known, name)

			gone = append(gone, name)
		}
	}

	slices.SortFunc(changed, func(a, b jobView) int { return strings.Compare(a.Name, b.Name) })

	return changed, gone
}

func newJobView(pb *schedulerpb.Job) jobView {
	name, _ := parseJobName(pb.GetName())
	out := jobView{
		Name: pb.GetName(), Short: name.job, Schedule: pb.GetSchedule(), Zone: pb.GetTimeZone(), State: pb.GetState().String(),
	}

	if pb.GetScheduleTime() != nil {
		out.Next = pb.GetScheduleTime().AsTime()
	}

	switch {
	case pb.GetHttpTarget() != nil:
		out.Target, _, _ = strings.Cut(pb.GetHttpTarget().GetUri(), "?")
	case pb.GetAppEngineHttpTarget() != nil:
		out.Target = "App Engine " + pb.GetAppEngineHttpTarget().GetRelativeUri()
	case pb.GetPubsubTarget() != nil:
		out.Target = pb.GetPubsubTarget().GetTopicName()
	}

	return out
}
