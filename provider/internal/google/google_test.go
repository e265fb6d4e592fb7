package google_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

func TestEndpointsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]google.Endpoint{
		"":                               {},
		"http://127.0.0.1:8795/v1/":      {Address: "127.0.0.1:8795", Loopback: true},
		"https://localhost:8795":         {Address: "localhost:8795", Loopback: true},
		"127.0.0.1:8795":                 {Address: "127.0.0.1:8795", Loopback: true},
		"http://[::1]:8795/":             {Address: "[::1]:8795", Loopback: true},
		"http://127.0.0.1/":              {Address: "127.0.0.1:80", Loopback: true},
		"https://scheduler.example.com/": {Address: "scheduler.example.com:443"},
		"scheduler.example.com:8443":     {Address: "scheduler.example.com:8443"},
	} {
		got, err := google.ParseEndpoint(raw)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

func TestEndpointsThatLeakOrDoNotExistAreRefused(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://scheduler.example.com/": "would send credentials in clear text",
		"http://127.0.0.1.example.com/": "would send credentials in clear text",
		"ftp://127.0.0.1/":              "the scheme ftp is neither https",
		"https://":                      "is not an endpoint",
	} {
		if _, err := google.ParseEndpoint(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// A secret that cannot be used must not be shown.
func TestCredentialsThatCannotBeReadAreNotRepeated(t *testing.T) {
	t.Parallel()
	const secret = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
	err := google.Settings{Credentials: secret}.CheckCredentials()
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("got %v", err)
	}
}

func TestNoCredentialsLeaveForALoopbackEndpoint(t *testing.T) {
	t.Parallel()
	settings := google.Settings{Credentials: "/no/such/file"}
	if _, err := settings.Options(google.Endpoint{Address: "127.0.0.1:1", Loopback: true}); err != nil {
		t.Errorf("credentials were looked for: %v", err)
	}
	if _, err := settings.Options(google.Endpoint{}); err == nil {
		t.Error("credentials were not looked for")
	}
}

func TestCallIsPatientWithABusyServerOnly(t *testing.T) {
	t.Parallel()
	for code, wantTries := range map[codes.Code]int{
		codes.Unavailable: 12, codes.ResourceExhausted: 12, codes.Aborted: 12,
		codes.PermissionDenied: 1, codes.NotFound: 1, codes.InvalidArgument: 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, err := google.Call(t.Context(), time.Second, func(context.Context) (int, error) {
				tries++
				return 0, status.Error(code, "no")
			})
			if status.Code(err) != code || tries != wantTries {
				t.Errorf("%s: %d tries, then %v", code, tries, err)
			}
		})
	}
}

func TestCallBoundsEachTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := google.Call(t.Context(), time.Second, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
