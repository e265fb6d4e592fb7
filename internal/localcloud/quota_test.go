package localcloud_test

import (
	"errors"
	"net/http"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"
)

func TestQuotaIsRefusedInGooglesShape(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, rest bool) {
		t.Helper()

		cloud := manual(t)
		cloud.QuotaExceeded("", 2)

		client := schedulerClient(t, cloud, rest)
		_, reading := client.GetJob(t.Context(), &schedulerpb.GetJobRequest{Name: nightly})
		_, writing := client.PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: nightly})

		// Reads and writes have quotas of their own.
		for limit, err := range map[string]error{"1250": reading, "500": writing} {
			var refused *apierror.APIError
			if !errors.As(err, &refused) {
				t.Fatalf("%v", err)
			}

			if refused.Reason() != "RATE_LIMIT_EXCEEDED" || refused.Domain() != "googleapis.com" || refused.Metadata()["quota_limit_value"] != limit {
				t.Errorf("details: %s %s %v", refused.Reason(), refused.Domain(), refused.Metadata())
			}

			if rest && refused.HTTPCode() != http.StatusTooManyRequests || !rest && refused.GRPCStatus().Code() != codes.ResourceExhausted {
				t.Errorf("code: %v", err)
			}
		}
	})
}

func TestCallsFailOnRequestOverTheControlAPI(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	code, _ := call(t, cloud, "POST", "/local/fail", `{"method": "ListJobs", "code": "RESOURCE_EXHAUSTED"}`, nil)
	if code != http.StatusOK {
		t.Fatalf("fail: %d", code)
	}

	code, got := call(t, cloud, "GET", "/v1/"+parent+"/jobs", "", nil)

	inner, _ := got["error"].(map[string]any)
	if code != http.StatusTooManyRequests || inner["status"] != "RESOURCE_EXHAUSTED" {
		t.Errorf("quota: %d %v", code, got)
	}

	if code, _ = call(t, cloud, "GET", "/v1/"+parent+"/jobs", "", nil); code != http.StatusOK {
		t.Errorf("after the fault: %d", code)
	}

	code, got = call(t, cloud, "POST", "/local/fail", `{"method": "ListJobs"}`, nil)
	if code != http.StatusBadRequest {
		t.Errorf("no code: %d %v", code, got)
	}
}
