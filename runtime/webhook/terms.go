package webhook

import (
	"errors"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// DefaultRetryHorizon is how long senders are taken to retry a delivery: the schedule that the Standard Webhooks specification
// recommends ends after 75 h 35 min 5 s.
const DefaultRetryHorizon = 76 * time.Hour

// retention settles how long completed events are kept: what is given, if it is long enough for the retry horizon, or the default for
// the horizon. A delivery that comes after the row was deleted would be a new event.
func retention(given, horizon time.Duration) (time.Duration, error) {
	if horizon < 0 || given < 0 {
		return 0, errors.New("RetryHorizon and Retention must not be negative")
	}
	if horizon == 0 {
		horizon = DefaultRetryHorizon
	}
	if given == 0 {
		return claim.DefaultRetention(horizon, 0), nil
	}
	if least := claim.MinRetention(horizon, 0); given < least {
		return 0, fmt.Errorf("Retention is %v, the sender retries for %v: an event that is forgotten before would be done twice: set at least %v",
			given, horizon, least)
	}
	return given, nil
}
