package localcloud

import (
	"context"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Issuer is the issuer of the tokens that jobs carry: the URL of the cloud.
func (c *Cloud) Issuer() string { return c.issuer.url }

// JWKSURL is where the keys are found that the tokens are signed with.
func (c *Cloud) JWKSURL() string { return c.issuer.url + jwksPath }

// Token returns a signed ID token of a service account for an audience, as jobs carry them.
func (c *Cloud) Token(account, audience string) (string, error) {
	return c.issuer.token(account, audience)
}

// Fire starts a scheduled run of a schedule time now, with retries and faults as in life, and returns once its first attempt is under
// way. The job is named in full or by a unique short id. The run neither waits for other runs of the job nor ends because of them.
func (c *Cloud) Fire(_ context.Context, job string, at time.Time) error {
	return c.scheduler.fire(job, at)
}

// Advance moves the clock forward and lets everything happen that falls due on the way, in order: before each step it waits for
// deliveries in flight, for Config.Settle at most. It returns when all is done that was due by then. A job whose
// deliveries outlast that is hardly waited for again: they fail at their deadline, by the cloud's clock.
func (c *Cloud) Advance(ctx context.Context, by time.Duration) error {
	err := c.scheduler.advance(ctx, by)
	c.keeper.changed() // the clock, however far it came

	return err
}

// Now is the time by the cloud's clock.
func (c *Cloud) Now() time.Time { return c.cfg.Clock.Now() }

// Inject adds a fault. An error says what about it is wrong; nothing is added then.
func (c *Cloud) Inject(fault Fault) error {
	err := fault.check()
	if err != nil {
		return err
	}

	c.scheduler.faults.add(fault)

	return nil
}

// ClearFaults forgets all faults that have not happened yet.
func (c *Cloud) ClearFaults() { c.scheduler.faults.clear() }

// Deliveries returns what was delivered for a job, named in full or by its short id, in order of start; empty: for any job.
func (c *Cloud) Deliveries(job string) []Delivery { return c.scheduler.deliveries.list(job) }

// Wait returns once the condition holds of all deliveries. It is asked again after each change; an error says that ctx ended first or
// that the cloud was closed.
func (c *Cloud) Wait(ctx context.Context, condition func([]Delivery) bool) error {
	return c.scheduler.deliveries.wait(ctx, c.scheduler.ctx.Done(), condition)
}

// Requests returns the API calls that were answered, in order of their answers.
func (c *Cloud) Requests() []APIRequest { return c.calls.list() }

// FailNext lets the next calls of a method, such as CreateJob, fail without taking effect; an empty method means any. Less than one
// time means once.
func (c *Cloud) FailNext(method string, code codes.Code, msg string, times int) {
	c.calls.fail(apiFault{method: method, err: status.Error(code, msg), times: times})
}

// FailAfter is FailNext for calls that take effect all the same: the client is told of a failure that was none.
func (c *Cloud) FailAfter(method string, code codes.Code, msg string, times int) {
	c.calls.fail(apiFault{method: method, err: status.Error(code, msg), times: times, after: true})
}

// EditField changes the stored settings of a Firestore field behind the back of its clients. A field that ends up without settings of
// its own inherits them again.
func (c *Cloud) EditField(name string, change func(*adminpb.Field)) error {
	defer c.keeper.changed()

	return c.fields.edit(name, change)
}

// Field returns the settings of a Firestore field as the API shows them.
func (c *Cloud) Field(ctx context.Context, name string) (*adminpb.Field, error) {
	return c.fields.GetField(ctx, &adminpb.GetFieldRequest{Name: name})
}
