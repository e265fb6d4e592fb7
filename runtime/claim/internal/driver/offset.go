package driver

import (
	"context"
	"errors"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// ProbeID is the id of no run: run ids are hexadecimal. Open reads it to reach the store and compare clocks.
const ProbeID = "clock"

// Offset reads the store once and returns its clock minus the local one, taken in the middle of the call.
func Offset(ctx context.Context, s claim.Store) (time.Duration, error) {
	sent := time.Now()

	found, err := s.Get(ctx, ProbeID)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		return 0, err
	}

	took := time.Since(sent)

	return found.Now.Sub(sent.Round(0).Add(took / 2)), nil
}
