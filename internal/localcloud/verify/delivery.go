package verify

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// delivery is one request as Cloud Scheduler would send it, and what a check makes of it.
type delivery struct {
	at time.Time
	// header is sent in place of what would be, by exact name; nil values leave one out.
	header map[string][]string
	// spell changes how header names are written.
	spell func(string) string
	// token is sent as it is; empty: a good one; "none": none.
	token string
}

const noToken = "none"

// answer is what came back.
type answer struct {
	status  int
	outcome string
	header  http.Header
	ended   time.Time
	err     error
}

func (a answer) success() bool { return a.err == nil && a.status >= 200 && a.status <= 299 }

func (a answer) String() string {
	switch {
	case a.err != nil:
		return a.err.Error()
	case a.outcome != "":
		return fmt.Sprintf("%d %s", a.status, a.outcome)
	default:
		return strconv.Itoa(a.status)
	}
}

// send makes one delivery.
func (v *verifier) send(ctx context.Context, d delivery) answer {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.cfg.URL, strings.NewReader("{}"))
	if err != nil {
		return answer{err: err}
	}

	err = v.fill(ctx, req, d)
	if err != nil {
		return answer{err: err}
	}

	resp, err := v.client.Do(req)
	if err != nil {
		return answer{err: fmt.Errorf("no answer: %w", err), ended: time.Now()}
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it once the body is read

	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		return answer{err: fmt.Errorf("read the answer: %w", err), ended: time.Now()}
	}

	return answer{status: resp.StatusCode, outcome: resp.Header.Get(run.HeaderOutcome), header: resp.Header, ended: time.Now()}
}

func (v *verifier) fill(ctx context.Context, req *http.Request, d delivery) error {
	headers := map[string][]string{
		"User-Agent":           {"Google-Cloud-Scheduler"},
		"Content-Type":         {"application/json"},
		run.HeaderScheduler:    {"true"},
		run.HeaderJobName:      {v.cfg.Job},
		run.HeaderScheduleTime: {d.at.UTC().Format(time.RFC3339)},
		run.HeaderProject:      {v.cfg.Project},
		run.HeaderRegion:       {v.cfg.Region},
	}

	token := d.token
	if token == "" && v.cfg.Token != nil {
		var err error

		token, err = v.cfg.Token(ctx, v.cfg.Account, v.cfg.Audience)
		if err != nil {
			return fmt.Errorf("make a token: %w", err)
		}
	}

	if token != "" && token != noToken {
		headers["Authorization"] = []string{"Bearer " + token}
	}

	maps.Copy(headers, d.header)

	for name, values := range headers {
		if values == nil {
			continue
		}

		if d.spell != nil {
			name = d.spell(name)
		}

		req.Header[name] = values
	}

	return nil
}

// effects is the number of effects so far, if the handler tells.
func (v *verifier) effects(ctx context.Context) (int, bool, error) {
	if v.cfg.Effects == "" {
		return 0, false, nil
	}

	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.cfg.Effects, nil)
	if err != nil {
		return 0, false, fmt.Errorf("count the effects: %w", err)
	}

	resp, err := v.client.Do(req)
	if err != nil {
		return 0, false, fmt.Errorf("count the effects: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it once the body is read

	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	if err != nil {
		return 0, false, fmt.Errorf("count the effects: %w", err)
	}

	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, false, fmt.Errorf("count the effects: %s answered %d and %q: it must answer 200 and a decimal number", v.cfg.Effects,
			resp.StatusCode, text)
	}

	return n, true, nil
}
