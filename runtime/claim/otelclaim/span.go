package otelclaim

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// span tells of an event that has just ended: the Observer hears of it then, with how long it took.
func (o *Observer) span(ctx context.Context, e claim.Event, attributes []attribute.KeyValue, end time.Time) {
	_, span := o.tracer.Start(ctx, spanName(e.Kind), trace.WithTimestamp(end.Add(-e.Duration)), trace.WithSpanKind(trace.SpanKindInternal))
	defer span.End(trace.WithTimestamp(end))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attributes...)
	span.SetAttributes(keyRunID.String(e.ID))
	if e.Run != "" {
		span.SetAttributes(keyRun.String(e.Run))
	}
	if e.AttemptID != "" {
		span.SetAttributes(keyAttempt.Int(e.Attempt), keyAttemptID.String(e.AttemptID))
	}
	if e.Kind == claim.EventTakeover {
		span.SetAttributes(keyTakeover.Bool(true))
	}
	if e.Err != nil {
		span.RecordError(e.Err, trace.WithTimestamp(end))
	}
	if wrong(e) {
		span.SetStatus(codes.Error, string(e.Kind))
	}
}

func spanName(kind claim.EventKind) string {
	switch kind {
	case claim.EventClaimed, claim.EventTakeover:
		return "idempotent.claim"
	case claim.EventRenewed:
		return "idempotent.renew"
	case claim.EventStoreError:
		return "idempotent.store"
	default:
		return "idempotent.run"
	}
}

// wrong reports whether somebody looking for trouble should find the event. A run that was executed has its effect, whatever came
// after; one that another attempt holds, and one that takes another way, are as they should be.
func wrong(e claim.Event) bool {
	switch e.Kind {
	case claim.EventStoreError, claim.EventReleased, claim.EventFailed, claim.EventUnknown, claim.EventLost, claim.EventUnrecorded,
		claim.EventUnavailable, claim.EventMismatch:
		return true
	case claim.EventRenewed:
		return e.Err != nil
	default:
		return false
	}
}

// jobOf is the job or scope in the name of a run. Empty for API keys, of which there is no end, and for names of other forms.
func jobOf(name string) string {
	parts := strings.Split(name, "/")
	for i := 0; i+1 < len(parts); i += 2 {
		if parts[i] == "jobs" || parts[i] == "scopes" {
			return parts[i+1]
		}
	}
	if len(parts) == 2 && parts[0] != "keys" { // the published sample's: job and time
		return parts[0]
	}
	return ""
}
