package scheduled

import (
	"errors"
	"net/http"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
)

// refusal is why a delivery was answered without touching the store.
type refusal struct {
	status       int
	reason, mend string
	err          error // for the log only
}

func (r *refusal) Error() string { return r.reason + ": " + r.mend }
func (r *refusal) Unwrap() error { return r.err }

// bad is the refusal of a request that is not a delivery.
func bad(reason, mend string) error {
	return &refusal{status: http.StatusBadRequest, reason: reason, mend: mend}
}

// asRefusal makes a refusal of any error; an unexpected one does not show to the caller.
func asRefusal(err error) *refusal {
	if own, ok := errors.AsType[*refusal](err); ok {
		return own
	}
	if c, ok := errors.AsType[*caller.Error](err); ok {
		return &refusal{status: c.Status, reason: c.Reason, mend: c.Remedy, err: c.Err}
	}
	return &refusal{
		status: http.StatusInternalServerError, reason: "the caller could not be checked", mend: "see the handler's log", err: err,
	}
}
