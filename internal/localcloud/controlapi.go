package localcloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// controlPrefix is where other processes find what the control methods do. It is no path of any Google API.
const controlPrefix = "/local/"

// handleControl serves the control methods as JSON.
func (c *Cloud) handleControl(mux *http.ServeMux) {
	mux.HandleFunc("GET "+controlPrefix+"clock", func(w http.ResponseWriter, _ *http.Request) { c.writeClock(w) })
	mux.HandleFunc("GET "+controlPrefix+"deliveries", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"deliveries": c.Deliveries(r.URL.Query().Get("job"))})
	})
	mux.HandleFunc("GET "+controlPrefix+"requests", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"requests": c.Requests()})
	})
	mux.HandleFunc("GET "+controlPrefix+"faults", func(w http.ResponseWriter, _ *http.Request) { c.writeFaults(w) })
	mux.HandleFunc("DELETE "+controlPrefix+"faults", func(w http.ResponseWriter, _ *http.Request) {
		c.ClearFaults()
		c.writeFaults(w)
	})
	mux.HandleFunc("POST "+controlPrefix+"faults", c.serveInject)
	mux.HandleFunc("GET "+controlPrefix+"random", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, c.scheduler.random.view())
	})
	mux.HandleFunc("PUT "+controlPrefix+"random", c.serveRandom)
	mux.HandleFunc("POST "+controlPrefix+"fail", c.serveFail)
	mux.HandleFunc("POST "+controlPrefix+"fire", c.serveFire)
	mux.HandleFunc("POST "+controlPrefix+"advance", c.serveAdvance)
	mux.HandleFunc("POST "+controlPrefix+"token", c.serveToken)
	mux.Handle(controlPrefix, restFront(http.HandlerFunc(notServed)))
}

func (c *Cloud) serveInject(w http.ResponseWriter, r *http.Request) {
	var fault Fault

	if !readJSON(w, r, &fault) {
		return
	}

	err := c.Inject(fault)
	if err != nil {
		refuse(w, err)

		return
	}

	c.writeFaults(w)
}

func (c *Cloud) serveRandom(w http.ResponseWriter, r *http.Request) {
	var asked Random

	if !readJSON(w, r, &asked) {
		return
	}

	set, err := c.Randomize(asked)
	if err != nil {
		refuse(w, err)

		return
	}

	writeJSON(w, http.StatusOK, set)
}

// serveFail lets calls of the API fail, with what the real one says where nothing else is asked for.
func (c *Cloud) serveFail(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Method  string     `json:"method"`
		Code    codes.Code `json:"code"`
		Message string     `json:"message"`
		Times   int        `json:"times"`
		After   bool       `json:"after"`
	}

	if !readJSON(w, r, &asked) {
		return
	}

	switch {
	case asked.Code == codes.OK:
		refuse(w, errors.New("code is missing: write it like \"RESOURCE_EXHAUSTED\""))

		return
	case asked.Code == codes.ResourceExhausted && asked.Message == "":
		c.calls.fail(apiFault{method: asked.Method, times: asked.Times, after: asked.After})
	default:
		c.calls.fail(apiFault{method: asked.Method, err: status.Error(asked.Code, asked.Message), times: asked.Times, after: asked.After})
	}

	writeJSON(w, http.StatusOK, asked)
}

func (c *Cloud) serveFire(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Job string    `json:"job"`
		At  time.Time `json:"at"`
	}

	if !readJSON(w, r, &asked) {
		return
	}

	if asked.At.IsZero() {
		asked.At = c.Now().Truncate(time.Second)
	}

	err := c.Fire(r.Context(), asked.Job, asked.At)
	if err != nil {
		refuse(w, err)

		return
	}

	writeJSON(w, http.StatusOK, asked)
}

func (c *Cloud) serveAdvance(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		By duration `json:"by"`
	}

	if !readJSON(w, r, &asked) {
		return
	}

	err := c.Advance(r.Context(), time.Duration(asked.By))
	if err != nil {
		refuse(w, err)

		return
	}

	c.writeClock(w)
}

func (c *Cloud) serveToken(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Account  string `json:"account"`
		Audience string `json:"audience"`
	}

	if !readJSON(w, r, &asked) {
		return
	}

	token, err := c.Token(asked.Account, asked.Audience)
	if err != nil {
		refuse(w, err)

		return
	}

	writeJSON(w, http.StatusOK, map[string]string{"token": token})
}

func (c *Cloud) writeClock(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{
		"now": c.Now().UTC(), "moved": c.cfg.Clock.Moved(), "running": c.cfg.Clock.Running(),
	})
}

func (c *Cloud) writeFaults(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{"faults": c.scheduler.faults.pending()})
}

// readJSON reads a request or refuses it. The content type is insisted on because no web page can send it elsewhere unasked.
func readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get(headerContentType))
	if err != nil || kind != "application/json" {
		refuse(w, fmt.Errorf("content type is %q: send application/json", r.Header.Get(headerContentType)))

		return false
	}

	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()

	err = decoder.Decode(into)
	if err != nil {
		refuse(w, fmt.Errorf("read the request: %w", err))

		return false
	}

	return true
}

func refuse(w http.ResponseWriter, err error) {
	writeError(w, http.StatusBadRequest, codes.InvalidArgument.String(), err.Error(), nil)
}

// duration is written "90s" in JSON.
type duration time.Duration

// MarshalText writes the duration as Go does.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration: write it like 90s or 24h", text)
	}

	*d = duration(parsed)

	return nil
}

// faultJSON is a [Fault] with durations that people can read.
type faultJSON struct {
	Job    string    `json:"job,omitempty"`
	Kind   FaultKind `json:"kind"`
	Times  int       `json:"times,omitempty"`
	Skip   int       `json:"skip,omitempty"`
	Count  int       `json:"count,omitempty"`
	After  duration  `json:"after,omitzero"`
	Delay  duration  `json:"delay,omitzero"`
	Status int       `json:"status,omitempty"`
}

// MarshalJSON writes durations like "90s".
func (f Fault) MarshalJSON() ([]byte, error) {
	out, err := json.Marshal(faultJSON{
		Job: f.Job, Kind: f.Kind, Times: f.Times, Skip: f.Skip, Count: f.Count, After: duration(f.After), Delay: duration(f.Delay),
		Status: f.Status,
	})
	if err != nil {
		return nil, fmt.Errorf("encode a fault: %w", err)
	}

	return out, nil
}

// UnmarshalJSON reads durations like "90s"; unknown names are errors.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var in faultJSON

	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()

	err := decoder.Decode(&in)
	if err != nil {
		return fmt.Errorf("decode a fault: %w", err)
	}

	*f = Fault{
		Job: in.Job, Kind: in.Kind, Times: in.Times, Skip: in.Skip, Count: in.Count, After: time.Duration(in.After),
		Delay: time.Duration(in.Delay), Status: in.Status,
	}

	return nil
}
