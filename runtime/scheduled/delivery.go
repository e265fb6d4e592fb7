package scheduled

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/inbound"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Delivery is the request that brought a run, as far as work may see it.
type Delivery struct {
	// Method and Path are those of the request; RawQuery is its query without the question mark.
	Method, Path, RawQuery string
	// Header is the request's, without what carries credentials. Work must not change it.
	Header http.Header
	// Body is the whole body of the request. Empty: there was none.
	Body []byte
	// Caller is who sent it.
	Caller caller.Caller
}

type deliveryKey struct{}

// Request returns the request that brought the run of this context, and whether there is one.
func Request(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*delivery)
	if !ok {
		return Delivery{}, false
	}
	header := d.request.Header.Clone()
	for _, secret := range []string{
		"Authorization", "X-Serverless-Authorization", "Proxy-Authorization", "X-Goog-Iap-Jwt-Assertion", "Cookie",
	} {
		header.Del(secret)
	}
	return Delivery{
		Method: d.request.Method, Path: d.request.URL.Path, RawQuery: d.request.URL.RawQuery, Header: header, Body: d.body,
		Caller: d.caller,
	}, true
}

// delivery is a request on its way through the handler, and the context of all that is done for it.
type delivery struct {
	context.Context //nolint:containedctx // it is a context: the request's, with its trace

	request *http.Request
	arrived time.Time // with monotonic reading
	caller  caller.Caller
	body    []byte
	work    Work
	terms   *terms
	clock   *time.Time // the local cloud's moved clock at arrival; nil: none
	forced  bool       // the store's clock has called it forced
	apart   bool       // its terms tell forced runs from scheduled ones
	// run as it is served. It has no name when it has no schedule time, and that of the scheduled run until it is found to be forced.
	run      run.Run
	previous *claim.Previous // the name that is claimed beside that of the run; nil: none
}

// String keeps what a request holds out of whatever prints a context.
func (d *delivery) String() string { return "scheduled.delivery" }

// Value implements context.Context.
func (d *delivery) Value(key any) any {
	if key == (deliveryKey{}) {
		return d
	}
	return d.Context.Value(key)
}

// read takes in everything that a delivery says, in the order in which it may be believed.
func (h *Handler) read(ctx context.Context, w http.ResponseWriter, r *http.Request, arrived time.Time) (*delivery, error) {
	c, err := h.cfg.Caller.Check(r)
	if err != nil {
		return nil, err
	}
	d := &delivery{Context: ctx, request: r, arrived: arrived, caller: c}
	found := readHeaders(r.Header)
	if !c.Verified { // what Terraform injects is the word of whoever calls
		found.project, found.region, found.policy = nil, nil, nil
	}
	if err := found.readScheduler(); err != nil {
		return d, err
	}
	if d.run.Job, err = found.readJob(); err != nil {
		return d, err
	}
	if d.run.ScheduleTime, d.run.RawTime, err = found.readTime(); err != nil {
		return d, err
	}
	if d.clock, err = found.readClock(h.cfg.LocalCloud, r); err != nil {
		return d, err
	}
	if d.run.Project, err = projectPlace().find(r, found.project, h.cfg.Project); err != nil {
		return d, err
	}
	if d.run.Region, err = regionPlace().find(r, found.region, h.cfg.Region); err != nil {
		return d, err
	}
	if err := checkProject(c, d.run.Project); err != nil {
		return d, err
	}
	if d.work, err = h.workOf(d.run.Job); err != nil {
		return d, err
	}
	if err := d.agree(h, found.policy); err != nil {
		return d, err
	}
	if !d.run.ScheduleTime.IsZero() {
		if err := d.name(false); err != nil {
			return d, bad(err.Error(), "send what names the run")
		}
	}
	d.body, err = h.readBody(w, r)
	return d, err
}

// agree settles the terms: those of the policy header, or the handler's own.
func (d *delivery) agree(h *Handler, policy []string) error {
	d.terms = h.own
	if len(policy) > 0 {
		header, err := one(run.HeaderPolicy, policy)
		if err != nil {
			return err
		}
		if d.terms, err = h.policies.read(header, h.limits); err != nil {
			return &refusal{
				status: http.StatusInternalServerError, reason: "the policy cannot be honoured, nothing was run: " + err.Error(),
				mend: "make the job and its handler agree: apply the one and deploy the other",
			}
		}
	}
	d.run.Scope, d.run.Format = d.terms.Scope, d.terms.Format
	named := d.terms.Scope == "" && d.terms.Format != run.FormatSample
	switch {
	case named && d.run.Project == "":
		return projectPlace().missing(d.caller)
	case named && d.run.Region == "":
		return regionPlace().missing(d.caller)
	case d.run.ScheduleTime.IsZero() && !h.cfg.RunWithoutScheduleTime:
		return bad("header "+run.HeaderScheduleTime+" is missing, so that the run cannot be told from others",
			"use a unix-cron schedule and do not force the run, or let the handler run without a schedule time, unguarded")
	}
	return nil
}

func (h *Handler) workOf(job string) (Work, error) {
	if work := h.cfg.Jobs[job]; work != nil {
		return work, nil
	}
	if h.cfg.Work != nil {
		return h.cfg.Work, nil
	}
	return nil, &refusal{
		status: http.StatusNotFound, reason: "this handler has no work for job " + quote(job),
		mend: "send the job to its own handler, or generate this one with it",
	}
}

// bodyTimeout bounds how long a caller may take to send its body.
const bodyTimeout = 10 * time.Second

func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	body, err := inbound.Read(w, bodyTimeout, func() ([]byte, error) { return io.ReadAll(http.MaxBytesReader(w, r.Body, h.cfg.MaxBody)) })
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &refusal{
			status: http.StatusRequestEntityTooLarge, reason: "the body is too large", mend: "hand over a reference to what is large", err: err,
		}
	case err != nil:
		return nil, &refusal{status: http.StatusBadRequest, reason: "the body cannot be read", mend: "send it whole", err: err}
	}
	return body, nil
}
