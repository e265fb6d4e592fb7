// Package otel_test holds otelclaim to its documentation with the SDK of OpenTelemetry, which must not end in users' go.sum.
package otel_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/otelclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// telemetry is an Observer and what comes of it.
type telemetry struct {
	observer *otelclaim.Observer
	reader   *sdkmetric.ManualReader
	spans    *tracetest.SpanRecorder
	tracers  *sdktrace.TracerProvider
}

func observe(t *testing.T) *telemetry {
	t.Helper()
	o := &telemetry{reader: sdkmetric.NewManualReader(), spans: tracetest.NewSpanRecorder()}
	o.tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(o.spans))
	var err error
	o.observer, err = otelclaim.New(otelclaim.WithTracerProvider(o.tracers),
		otelclaim.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(o.reader))))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// counts are the counters by their short name, and the deliveries in the histogram by outcome.
func (o *telemetry) counts(t *testing.T) (counters map[string]int64, deliveries map[string]uint64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := o.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counters, deliveries = map[string]int64{}, map[string]uint64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := strings.TrimPrefix(m.Name, "idempotent.claim.")
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					counters[name] += point.Value
					wantLabels(t, m.Name, point.Attributes)
				}
			case metricdata.Histogram[float64]:
				if m.Unit != "s" {
					t.Errorf("unit of %s is %q", m.Name, m.Unit)
				}
				for _, point := range data.DataPoints {
					outcome, _ := point.Attributes.Value("idempotent.outcome")
					deliveries[outcome.AsString()] += point.Count
					wantLabels(t, m.Name, point.Attributes)
				}
			}
		}
	}
	return counters, deliveries
}

func wantLabels(t *testing.T, name string, labels attribute.Set) {
	t.Helper()
	if store, _ := labels.Value("idempotent.store"); store.AsString() != "memory" {
		t.Errorf("%s: idempotent.store is %q", name, store.AsString())
	}
	verb, hasVerb := labels.Value("idempotent.verb")
	if job, _ := labels.Value("idempotent.job"); job.AsString() != "nightly-report" && !hasVerb {
		t.Errorf("%s: idempotent.job is %q", name, job.AsString())
	}
	if hasVerb != strings.HasSuffix(name, "store_error") {
		t.Errorf("%s: idempotent.verb is %q", name, verb.AsString())
	}
	for _, unbounded := range []attribute.Key{"idempotent.run", "idempotent.run_id", "idempotent.attempt_id"} {
		if labels.HasValue(unbounded) {
			t.Errorf("%s has the attribute %s, of which there is no end", name, unbounded)
		}
	}
}

// proposal is one of a run of its own.
func proposal(second int) claim.Proposal {
	name, err := run.Identity{
		Project: "acme-prod", Region: "europe-west1", Job: "nightly-report", ScheduleTime: time.Date(2026, 10, 16, 12, 0, second, 0, time.UTC),
	}.Name()
	if err != nil {
		panic(err)
	}
	return claim.Proposal{ID: run.ID(name), Run: name, Lease: time.Minute, Retention: time.Hour}
}

func TestEachThingThatHappensIsCounted(t *testing.T) {
	t.Parallel()
	o := observe(t)
	store := memclaim.New()
	c := claim.New(store, claim.WithObserver(o.observer), claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(100*time.Millisecond))
	do := func(p claim.Proposal, want claim.Outcome, work func(context.Context) error) {
		t.Helper()
		if got := c.Do(t.Context(), p, work); got.Outcome != want {
			t.Errorf("%s: %s (%v), want %s", p.Run, got.Outcome, got.Err, want)
		}
	}
	nothing := func(context.Context) error { return nil }
	fail := func(context.Context) error { return errors.New("disk full") }

	first := proposal(1)
	do(first, claim.OutcomeExecuted, func(context.Context) error {
		do(first, claim.OutcomeInProgress, nothing)
		return nil
	})
	do(first, claim.OutcomeDuplicate, nothing)
	do(proposal(2), claim.OutcomeReleased, fail)
	do(proposal(3), claim.OutcomeFailed, func(context.Context) error { return claim.Permanent(errors.New("no")) })
	once := proposal(4)
	once.AtMostOnce = true
	do(once, claim.OutcomeUnknown, fail)
	dead := proposal(5)
	store.Put(dead.ID, claim.Record{Status: claim.StatusInProgress, AttemptID: "dead", Attempt: 1, Rev: 1, Lease: 1, Run: dead.Run})
	do(dead, claim.OutcomeExecuted, nothing)
	gone := proposal(6)
	do(gone, claim.OutcomeLost, func(context.Context) error {
		store.Delete(gone.ID)
		return nil
	})
	store.Before(func(context.Context, memclaim.Verb, string) error { return errors.New("store is away") })
	do(proposal(7), claim.OutcomeUnavailable, nothing)
	store.Before(nil)

	counters, deliveries := o.counts(t)
	if counters["store_error"] < 2 {
		t.Errorf("%d store errors, want those of the write and of the read-backs", counters["store_error"])
	}
	delete(counters, "store_error")
	want := map[string]int64{
		"claimed": 5, "takeover": 1, "executed": 2, "duplicate": 1, "in_progress": 1, "released": 1, "failed": 1, "unknown": 1, "lost": 1, "unavailable": 1,
	}
	if diff := cmp.Diff(want, counters); diff != "" {
		t.Errorf("counters differ, - wanted, + counted:\n%s", diff)
	}
	ended := map[string]uint64{
		"executed": 2, "duplicate": 1, "in_progress": 1, "released": 1, "failed": 1, "unknown": 1, "lost": 1, "unavailable": 1,
	}
	if diff := cmp.Diff(ended, deliveries); diff != "" {
		t.Errorf("deliveries differ, - wanted, + counted:\n%s", diff)
	}
}

func TestSpansTellOfTheDeliveryBelowItsParent(t *testing.T) {
	t.Parallel()
	o := observe(t)
	c := claim.New(memclaim.New(), claim.WithObserver(o.observer), claim.WithLogger(slog.New(slog.DiscardHandler)))
	ctx, parent := o.tracers.Tracer("test").Start(t.Context(), "request")
	const worked = 20 * time.Millisecond
	p := proposal(1)
	p.Lease, p.Renew = 15*time.Millisecond, true
	var renewals int
	got := c.Do(ctx, p, func(context.Context) error {
		for end := time.Now().Add(worked); time.Now().Before(end) || renewals == 0; renewals = len(o.named("idempotent.renew")) {
			time.Sleep(time.Millisecond)
		}
		return errors.New("disk full")
	})
	parent.End()
	if got.Outcome != claim.OutcomeReleased {
		t.Fatalf("got %s, %v", got.Outcome, got.Err)
	}

	claims, runs := o.named("idempotent.claim"), o.named("idempotent.run")
	if len(claims) != 1 || len(runs) != 1 {
		t.Fatalf("%d spans of the claim and %d of the run, want one each", len(claims), len(runs))
	}
	for _, span := range slices.Concat(claims, runs, o.named("idempotent.renew")) {
		if span.Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Errorf("span %s is not the request's child", span.Name())
		}
		attributes := maps.Collect(func(yield func(string, string) bool) {
			for _, a := range span.Attributes() {
				if !yield(string(a.Key), a.Value.String()) {
					return
				}
			}
		})
		if attributes["idempotent.run"] != p.Run || attributes["idempotent.run_id"] != p.ID || attributes["idempotent.attempt_id"] != got.AttemptID || attributes["idempotent.attempt"] != "1" {
			t.Errorf("span %s has %v", span.Name(), attributes)
		}
	}
	whole := runs[0]
	if took := whole.EndTime().Sub(whole.StartTime()); took < worked {
		t.Errorf("the span of the run took %v, the work %v", took, worked)
	}
	if whole.Status().Code != codes.Error || len(whole.Events()) != 1 {
		t.Errorf("the span of a run that failed has the status %v and %d events", whole.Status(), len(whole.Events()))
	}
	if claims[0].Status().Code == codes.Error {
		t.Error("the span of a claim that was won has an error")
	}
}

func (o *telemetry) named(name string) (found []sdktrace.ReadOnlySpan) {
	for _, span := range o.spans.Ended() {
		if span.Name() == name {
			found = append(found, span)
		}
	}
	return found
}

// TestJobsAreToldApartByLabel: whatever form the name of a run has.
func TestJobsAreToldApartByLabel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"projects/jobs/locations/europe-west1/jobs/nightly/runs/2026-10-16T12:00:00Z": "nightly",
		"projects/acme-prod/locations/jobs/jobs/nightly/forced/2026-10-16T12:00:00Z":  "nightly",
		"scopes/reports/runs/2026-10-16T12:00:00Z":                                    "reports",
		"nightly/2026-10-16T12:00:00Z":                                                "nightly",
		"keys/" + strings.Repeat("a", 64) + "/" + strings.Repeat("b", 64):             "",
		"": "",
	} {
		o := observe(t)
		o.observer.Observe(t.Context(), claim.Event{Kind: claim.EventClaimed, Store: "memory", Run: name})
		var all metricdata.ResourceMetrics
		if err := o.reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		point := all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints[0]
		if job, found := point.Attributes.Value("idempotent.job"); job.AsString() != want || found != (want != "") {
			t.Errorf("run %q is labelled %q (%v), want %q", name, job.AsString(), found, want)
		}
	}
}

// TestTheGlobalProvidersAreTheDefault is not parallel: it sets them.
func TestTheGlobalProvidersAreTheDefault(t *testing.T) {
	meters, tracers := otel.GetMeterProvider(), otel.GetTracerProvider()
	t.Cleanup(func() { otel.SetMeterProvider(meters); otel.SetTracerProvider(tracers) })
	reader, spans := sdkmetric.NewManualReader(), tracetest.NewSpanRecorder()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	observer, err := otelclaim.New()
	if err != nil {
		t.Fatal(err)
	}
	observer.Observe(t.Context(), claim.Event{Kind: claim.EventClaimed, Store: "memory", Run: proposal(1).Run})
	o := &telemetry{reader: reader}
	if counters, _ := o.counts(t); counters["claimed"] != 1 || len(spans.Ended()) != 1 {
		t.Errorf("counted %v and %d spans", counters, len(spans.Ended()))
	}
}
