package googleapi_test

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/internal/googleapi"
)

func TestOnlyLoopbackIsSpokenToInClearText(t *testing.T) {
	t.Parallel()
	for endpoint, ok := range map[string]bool{
		"": true, "http://127.0.0.1:8085": true, "http://localhost:1/": true, "http://[::1]:8085": true, "https://run.example.p.googleapis.com": true,
		"http://example.com": false, "127.0.0.1:80": false, "https://me:secret@example.com": false, "https://example.com/path": false, "ftp://x": false,
	} {
		if _, err := googleapi.Options(endpoint); (err == nil) != ok {
			t.Errorf("endpoint %q: %v", endpoint, err)
		}
	}
}

func TestOnlyRefusalsLeaveNothingOpen(t *testing.T) {
	t.Parallel()
	if googleapi.StartError(nil) != nil {
		t.Error("no error became one")
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := googleapi.StartError(status.Error(code, "x"))
		open := code == codes.Canceled || code == codes.Unknown || code == codes.DeadlineExceeded || code == codes.AlreadyExists ||
			code == codes.ResourceExhausted || code == codes.Aborted || code == codes.Internal || code == codes.Unavailable || code == codes.DataLoss
		if got := !errors.Is(err, forward.ErrRefused); got != open {
			t.Errorf("%v: open is %t, want %t", code, got, open)
		}
	}
}
