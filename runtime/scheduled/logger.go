package scheduled

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// NewLogger returns a logger that writes one JSON object a line, with the fields that Cloud Logging understands: severity, message,
// time, and the trace of the delivery whose context a line is logged with. Project is where the traces are; empty: the lines carry
// the bare trace id.
func NewLogger(w io.Writer, project string) *slog.Logger {
	base := slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: asCloudLogging})
	return slog.New(&traceHandler{base: base, current: base, project: project})
}

func asCloudLogging(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.MessageKey:
		a.Key = "message"
	case slog.LevelKey:
		level, _ := a.Value.Any().(slog.Level)
		return slog.String("severity", severity(level))
	}
	return a
}

func severity(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "ERROR"
	case level >= slog.LevelWarn:
		return "WARNING"
	case level >= slog.LevelInfo:
		return "INFO"
	default:
		return "DEBUG"
	}
}

// traceHandler adds the trace at the top of a line, above all groups.
type traceHandler struct {
	base, current slog.Handler
	built         []func(slog.Handler) slog.Handler // what leads from base to current
	project       string
}

func (t *traceHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return t.base.Enabled(ctx, level)
}

func (t *traceHandler) Handle(ctx context.Context, record slog.Record) error {
	tr, ok := ctx.Value(traceKey{}).(trace)
	if !ok {
		return t.current.Handle(ctx, record)
	}
	h := t.base.WithAttrs(tr.attrs(t.project))
	for _, step := range t.built {
		h = step(h)
	}
	return h.Handle(ctx, record)
}

func (t *traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return t.with(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

func (t *traceHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return t
	}
	return t.with(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (t *traceHandler) with(step func(slog.Handler) slog.Handler) slog.Handler {
	return &traceHandler{
		base: t.base, current: step(t.current), built: append(slices.Clone(t.built), step), project: t.project,
	}
}

// trace is the trace that a request belongs to.
type trace struct {
	id, span string // lower-case hex: 32 and 16 digits; span may be empty
	sampled  bool
}

type traceKey struct{}

func (t trace) attrs(project string) []slog.Attr {
	name := t.id
	if project != "" {
		name = "projects/" + project + "/traces/" + t.id
	}
	attrs := []slog.Attr{slog.String("logging.googleapis.com/trace", name), slog.Bool("logging.googleapis.com/trace_sampled", t.sampled)}
	if t.span != "" {
		attrs = append(attrs, slog.String("logging.googleapis.com/spanId", t.span))
	}
	return attrs
}

// withTrace keeps the trace that the headers name, if they name one: traceparent (W3C), else Google's X-Cloud-Trace-Context.
func withTrace(ctx context.Context, h http.Header) context.Context {
	if len(h["Traceparent"]) == 0 && len(h["X-Cloud-Trace-Context"]) == 0 {
		return ctx
	}
	t, ok := parseTraceparent(h.Get("Traceparent"))
	if !ok {
		t, ok = parseCloudTrace(h.Get("X-Cloud-Trace-Context"))
	}
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// parseTraceparent reads VERSION-TRACE-SPAN-FLAGS.
func parseTraceparent(s string) (trace, bool) {
	parts := strings.Split(s, "-")
	if len(parts) < 4 || !isHex(parts[0], 2) || parts[0] == "ff" || !isID(parts[1], 32) || !isID(parts[2], 16) || !isHex(parts[3], 2) {
		return trace{}, false
	}
	flags, err := strconv.ParseUint(parts[3], 16, 8)
	return trace{id: parts[1], span: parts[2], sampled: flags&1 == 1}, err == nil
}

// parseCloudTrace reads TRACE/SPAN;o=OPTIONS with a decimal span, where span and options may be missing.
func parseCloudTrace(s string) (trace, bool) {
	s, options, _ := strings.Cut(s, ";")
	id, decimal, _ := strings.Cut(s, "/")
	id = strings.ToLower(id)
	if !isID(id, 32) {
		return trace{}, false
	}
	t := trace{id: id, sampled: options == "o=1"}
	if span, err := strconv.ParseUint(decimal, 10, 64); err == nil && span != 0 {
		text := strconv.FormatUint(span, 16)
		t.span = strings.Repeat("0", 16-len(text)) + text
	}
	return t, true
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// isID says whether the text is an id of that many hexadecimal digits; all zeros stand for none.
func isID(s string, length int) bool {
	return isHex(s, length) && strings.Trim(s, "0") != ""
}
