package explain_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

func operation() explain.Operation {
	return explain.Operation{
		Verb: "update", Noun: "job", Name: "nightly",
		Remedies: map[codes.Code]string{codes.PermissionDenied: "Ask for the role."},
		Attribute: func(field, _ string) (path.Path, bool) {
			return path.Root("retry_config").AtListIndex(0), field == "job.retry_config"
		},
	}
}

func TestErrorsSayWhatWasTriedAndWhatMendsIt(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]string{
		codes.PermissionDenied: "no (PermissionDenied).\n\nAsk for the role.",
		codes.Unauthenticated: "no (Unauthenticated).\n\nThe credentials were not accepted. Renew them with `gcloud auth application-default " +
			"login`, or set credentials or access_token in the provider block.",
		codes.ResourceExhausted: "no (ResourceExhausted).\n\nThe API's quota was used up although the provider waited and tried again. Apply " +
			"again later, lower -parallelism, or raise the quota of the project.",
		codes.Unavailable: "no (Unavailable).\n\nThe API could not be reached although the provider waited and tried again. Apply again; if a " +
			"custom endpoint is set, check that something answers there.",
		codes.Aborted: "no (Aborted).\n\nSomething else kept changing the same object although the provider waited and tried again. Apply " +
			"again when it is done.",
		codes.DeadlineExceeded: "no (DeadlineExceeded).\n\nThe request took longer than allowed. Apply again, or raise request_timeout in the " +
			"provider block or the resource's timeouts.",
		codes.InvalidArgument: "no (InvalidArgument)",
	} {
		got := explain.Error(operation(), status.Error(code, "no"))
		if got.Summary() != `Unable to update job "nightly"` {
			t.Errorf("%s: summary %q", code, got.Summary())
		}
		if diff := cmp.Diff(want, got.Detail()); diff != "" {
			t.Errorf("%s:\n%s", code, diff)
		}
	}
}

func TestErrorsOfOtherKindsKeepTheirText(t *testing.T) {
	t.Parallel()
	if got := explain.Error(operation(), errors.New("no usable credentials")); got.Detail() != "no usable credentials" {
		t.Errorf("got %q", got.Detail())
	}
}

func TestTheFieldThatTheServerNamesBecomesTheAttribute(t *testing.T) {
	t.Parallel()
	refused, err := status.New(codes.InvalidArgument, "too many").WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "job.retry_config"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []diag.Diagnostic{explain.Error(operation(), refused.Err()), explain.Warning(operation(), refused.Err())} {
		located, ok := d.(diag.DiagnosticWithPath)
		if !ok || !located.Path().Equal(path.Root("retry_config").AtListIndex(0)) || d.Detail() != "retry_config: too many (InvalidArgument)" {
			t.Errorf("got %v", d)
		}
	}
}
