package scheduled

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// verdict is how an outcome is answered and logged.
type verdict struct {
	status       int
	level        slog.Level
	detail, mend string
}

func (s served) verdict(d *delivery) verdict {
	switch s.Outcome {
	case claim.OutcomeExecuted:
		return verdict{http.StatusOK, slog.LevelInfo, "the work was done", ""}
	case claim.OutcomeDuplicate:
		return verdict{http.StatusOK, slog.LevelInfo, "the work of this run had been done before", ""}
	case claim.OutcomeRejected:
		return verdict{http.StatusOK, slog.LevelInfo, "forced runs of this job are not executed", "set forced_runs to separate to execute them"}
	case claim.OutcomeInProgress:
		return verdict{http.StatusConflict, slog.LevelInfo, "another attempt is at this run", "try again when its lease ends"}
	case claim.OutcomeLost:
		return verdict{http.StatusConflict, slog.LevelWarn, "the claim was lost before the work ended", "give the lease more time, or renew it"}
	case claim.OutcomeReleased:
		return verdict{http.StatusInternalServerError, slog.LevelError, "the work failed and may be tried again", "see the handler's log"}
	case claim.OutcomeUnrecorded:
		return verdict{
			http.StatusInternalServerError, slog.LevelError, "the work was done but could not be recorded",
			"see the handler's log, and complete the run by hand if it must not be repeated",
		}
	case claim.OutcomeFailed:
		return verdict{
			http.StatusUnprocessableEntity, slog.LevelError, "the work failed for good, or too often",
			"see the handler's log, and release the run by hand to try it again",
		}
	case claim.OutcomeUnknown:
		return verdict{
			http.StatusUnprocessableEntity, slog.LevelError, "nobody knows whether the work was done, and it must not be done twice",
			"find out, and complete or release the run by hand",
		}
	default:
		return s.unavailable(d)
	}
}

func (s served) unavailable(d *delivery) verdict {
	v := verdict{http.StatusInternalServerError, slog.LevelError, "the store could not be asked, nothing was run", "see the handler's log"}
	switch {
	case errors.Is(s.Err, claim.ErrShutdown):
		v.level, v.detail, v.mend = slog.LevelWarn, "the handler is shutting down, nothing was run", "try again"
	case errors.Is(s.Err, claim.ErrLeaseEnded), errors.Is(s.Err, claim.ErrTimeout):
		v.detail, v.mend = "too little time was left for the work, nothing was run", "try again, and give the request and the lease more time"
	case !errors.Is(s.Err, claim.ErrPolicy):
		if s.Err != nil && d.caller.Verified { // only who is known is told how the handler fares
			v.detail += ": " + shorten(s.Err.Error())
		}
	default:
		v.detail = "nothing was run: " + s.Err.Error()
		v.mend = "make the job and its handler agree: apply the one and deploy the other"
	}
	return v
}

// shorten bounds what a reply repeats of an error. Store errors carry no secrets; the log has the whole.
func shorten(text string) string {
	const longest = 600
	text = strings.ToValidUTF8(text, "")
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// answer sends what became of a delivery.
func (h *Handler) answer(w http.ResponseWriter, d *delivery, s served) {
	v := s.verdict(d)
	if s.Outcome == claim.OutcomeExecuted && s.Err != nil {
		v.level = slog.LevelError
		v.detail = "the work was done, and returned an error after it was recorded"
	}
	if s.run.ID == "" && v.mend != "" { // unguarded: there is no record to complete or release by hand
		v.mend = "see the handler's log"
	}
	b := body{Detail: v.detail, Mend: v.mend, Run: s.run.Name, RunID: s.run.ID, Attempt: s.Attempt}
	if s.Outcome != claim.OutcomeUnavailable {
		b.Outcome = s.Outcome
	}
	if s.RetryAfter > 0 {
		seconds := (s.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	h.log(d, s, v)
	h.send(w, v.status, b)
}

func (h *Handler) log(d *delivery, s served, v verdict) {
	if !h.cfg.Logger.Enabled(d, v.level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("job", d.run.Job),
		slog.String("run", s.run.Name),
		slog.String("run_id", s.run.ID),
		slog.String("outcome", string(s.Outcome)),
		slog.Int("attempt", s.Attempt),
		slog.Int("status", v.status),
		slog.Duration("duration", time.Since(d.arrived)),
	}
	if s.Err != nil {
		attrs = append(attrs, slog.String("error", s.Err.Error()))
	}
	if panicked, ok := errors.AsType[*claim.PanicError](s.Err); ok {
		attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
	}
	h.cfg.Logger.LogAttrs(d, v.level, "scheduled run: "+v.detail, attrs...)
}

// refuse answers a delivery that did not get as far as the store.
func (h *Handler) refuse(ctx context.Context, w http.ResponseWriter, d *delivery, r *refusal) {
	level := slog.LevelWarn
	if r.status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.Int("status", r.status), slog.String("reason", r.reason), slog.String("mend", r.mend)}
	if d != nil {
		attrs = append(attrs, slog.String("job", d.run.Job), slog.String("caller", d.caller.Email))
	}
	if r.err != nil {
		attrs = append(attrs, slog.String("error", r.err.Error()))
	}
	h.cfg.Logger.LogAttrs(ctx, level, "delivery refused: "+r.reason, attrs...)
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	h.send(w, r.status, body{Detail: r.reason, Mend: r.mend})
}

func (h *Handler) send(w http.ResponseWriter, status int, b body) {
	kind := "application/json"
	if status >= http.StatusBadRequest {
		kind = "application/problem+json"
		b.Title, b.Status = http.StatusText(status), status
	}
	text, used := h.texts.Get().(*[]byte)
	if !used {
		text = new([]byte)
	}
	defer h.texts.Put(text)
	*text = append(b.appendJSON((*text)[:0]), '\n')
	values := [...]string{kind, "nosniff", string(b.Outcome)} // one allocation for all; a slice for each, which can be appended to
	header := w.Header()
	header["Content-Type"] = values[0:1:1]
	header["X-Content-Type-Options"] = values[1:2:2]
	if b.Outcome != "" {
		header[run.HeaderOutcome] = values[2:3:3]
	}
	w.WriteHeader(status)
	// A caller that is gone gets no reply; what became of the run is recorded.
	_, _ = w.Write(*text)
}
