package otelclaim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// scope names this library to OpenTelemetry.
const scope = "github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/otelclaim"

// The keys of attributes.
const (
	keyStore     = attribute.Key("idempotent.store")
	keyJob       = attribute.Key("idempotent.job")
	keyVerb      = attribute.Key("idempotent.verb")
	keyOutcome   = attribute.Key("idempotent.outcome")
	keyRun       = attribute.Key("idempotent.run")
	keyRunID     = attribute.Key("idempotent.run_id")
	keyAttempt   = attribute.Key("idempotent.attempt")
	keyAttemptID = attribute.Key("idempotent.attempt_id")
	keyTakeover  = attribute.Key("idempotent.takeover")
)

// Observer is a claim.Observer. It is safe for concurrent use.
type Observer struct {
	tracer   trace.Tracer
	counters map[claim.EventKind]metric.Int64Counter
	duration metric.Float64Histogram
}

var _ claim.Observer = (*Observer)(nil)

// Option changes an Observer.
type Option func(*options)

type options struct {
	meters  metric.MeterProvider
	tracers trace.TracerProvider
}

// WithMeterProvider counts with p. Default: the global provider when New is called.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *options) { o.meters = p } }

// WithTracerProvider makes spans with p. Default: the global provider when New is called.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.tracers = p } }

// New returns an Observer. An error comes from the meter provider, and names the instrument that it refused.
func New(opts ...Option) (*Observer, error) {
	o := options{meters: otel.GetMeterProvider(), tracers: otel.GetTracerProvider()}
	for _, opt := range opts {
		opt(&o)
	}
	meter := o.meters.Meter(scope)
	observer := &Observer{tracer: o.tracers.Tracer(scope), counters: map[claim.EventKind]metric.Int64Counter{}}
	var errs []error
	for kind, description := range counted() {
		name := "idempotent.claim." + string(kind)
		counter, err := meter.Int64Counter(name, metric.WithDescription(description), metric.WithUnit("{event}"))
		if err != nil {
			errs = append(errs, fmt.Errorf("make the counter %s: %w", name, err))
		}
		observer.counters[kind] = counter
	}
	var err error
	observer.duration, err = meter.Float64Histogram("idempotent.claim.duration", metric.WithUnit("s"),
		metric.WithDescription("How long deliveries took, by their outcome."), metric.WithExplicitBucketBoundaries(bounds()...))
	if err != nil {
		errs = append(errs, fmt.Errorf("make the histogram idempotent.claim.duration: %w", err))
	}
	return observer, errors.Join(errs...)
}

// counted are the events that are counted, and what is said of each.
func counted() map[claim.EventKind]string {
	return map[claim.EventKind]string{
		claim.EventClaimed:     "New or released runs that were claimed.",
		claim.EventTakeover:    "Runs that were claimed after the lease of another attempt was over.",
		claim.EventRenewed:     "Renewals of leases, whether or not they succeeded.",
		claim.EventStoreError:  "Calls to the store that failed.",
		claim.EventExecuted:    "Deliveries whose work was done and recorded.",
		claim.EventDuplicate:   "Deliveries of runs that had been done before.",
		claim.EventInProgress:  "Deliveries that met the live lease of another attempt.",
		claim.EventLost:        "Deliveries that lost their claim before the work ended.",
		claim.EventReleased:    "Deliveries whose work failed and may be tried again.",
		claim.EventFailed:      "Deliveries of runs that failed for good, now or before.",
		claim.EventUnknown:     "Deliveries of runs of which nobody knows whether they were done.",
		claim.EventUnrecorded:  "Deliveries whose work was done and could not be recorded.",
		claim.EventNotAdmitted: "Deliveries that turned out to be of a forced run.",
		claim.EventMismatch:    "Deliveries whose idempotency key came with another request before.",
		claim.EventUnavailable: "Deliveries for which nothing could be run.",
	}
}

// bounds are those of the durations, in seconds: from a duplicate of a local store to the longest work.
func bounds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1800}
}

// Observe implements claim.Observer.
func (o *Observer) Observe(ctx context.Context, e claim.Event) {
	labels := []attribute.KeyValue{keyStore.String(e.Store)}
	if job := jobOf(e.Run); job != "" {
		labels = append(labels, keyJob.String(job))
	}
	if e.Verb != "" {
		labels = append(labels, keyVerb.String(e.Verb))
	}
	if counter, ok := o.counters[e.Kind]; ok {
		counter.Add(ctx, 1, metric.WithAttributes(labels...))
	}
	if ends(e.Kind) {
		labels = append(labels, keyOutcome.String(string(e.Kind)))
		o.duration.Record(ctx, e.Duration.Seconds(), metric.WithAttributes(labels...))
	}
	o.span(ctx, e, labels, time.Now())
}

// ends reports whether the event is the end of a delivery.
func ends(kind claim.EventKind) bool {
	switch kind {
	case claim.EventClaimed, claim.EventTakeover, claim.EventRenewed, claim.EventStoreError:
		return false
	default:
		return true
	}
}
