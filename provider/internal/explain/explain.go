// Package explain turns errors of Google's APIs into diagnostics, and nothing else does: what was tried, on what, which attribute it
// is about, and what mends it.
package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/googleapis/gax-go/v2/apierror"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Operation is what was tried.
type Operation struct {
	Verb string    // create, read, update, pause, resume, delete, set
	Noun string    // job, expiry policy of collection
	Name string    // as people know it
	Path path.Path // the attribute the error is about when the server names none; empty: the whole resource

	// Remedies say what mends an error of the code. A code that is absent gets the general advice.
	Remedies map[codes.Code]string
	// Attribute maps a field of the API to the attribute that it comes from; nil: no field is mapped.
	Attribute func(field, message string) (path.Path, bool)
}

// Error is the diagnostic for an error of the operation.
func Error(op Operation, err error) diag.Diagnostic {
	at, detail := op.Path, message(err)
	if op.Attribute != nil {
		if found, ok := op.Attribute(violatedField(err), detail); ok {
			at = found
			detail = Words(at) + ": " + detail
		}
	}
	summary := fmt.Sprintf("Unable to %s %s %q", op.Verb, op.Noun, op.Name)
	if remedy := op.remedy(err); remedy != "" {
		detail = sentence(detail) + "\n\n" + remedy
	}
	if at.Equal(path.Empty()) {
		return diag.NewErrorDiagnostic(summary, detail)
	}
	return diag.NewAttributeErrorDiagnostic(at, summary, detail)
}

// Warning is Error as a warning, for what the run can do without.
func Warning(op Operation, err error) diag.Diagnostic {
	d := Error(op, err)
	if located, ok := d.(diag.DiagnosticWithPath); ok {
		return diag.NewAttributeWarningDiagnostic(located.Path(), d.Summary(), d.Detail())
	}
	return diag.NewWarningDiagnostic(d.Summary(), d.Detail())
}

func (op Operation) remedy(err error) string {
	code := status.Code(err)
	if remedy, ok := op.Remedies[code]; ok {
		return remedy
	}
	switch code {
	case codes.Unauthenticated:
		return "The credentials were not accepted. Renew them with `gcloud auth application-default login`, or set credentials or " +
			"access_token in the provider block."
	case codes.ResourceExhausted:
		return "The API's quota was used up although the provider waited and tried again. Apply again later, lower -parallelism, or " +
			"raise the quota of the project."
	case codes.Unavailable:
		return "The API could not be reached although the provider waited and tried again. Apply again; if a custom endpoint is set, " +
			"check that something answers there."
	case codes.Aborted:
		return "Something else kept changing the same object although the provider waited and tried again. Apply again when it is done."
	case codes.DeadlineExceeded:
		return "The request took longer than allowed. Apply again, or raise request_timeout in the provider block or the resource's timeouts."
	default:
		return ""
	}
}

// message is the server's own text, without the transport's decoration.
func message(err error) string {
	if api, ok := errors.AsType[*apierror.APIError](err); ok && api.GRPCStatus() != nil {
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(api.GRPCStatus().Message()), api.GRPCStatus().Code())
	}
	if s, ok := status.FromError(err); ok && s.Code() != codes.OK {
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(s.Message()), s.Code())
	}
	return err.Error()
}

// violatedField is the first field that the server names in a bad request, "" if it names none.
func violatedField(err error) string {
	s, ok := status.FromError(err)
	if !ok {
		return ""
	}
	for _, detail := range s.Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok && len(bad.GetFieldViolations()) > 0 {
			return bad.GetFieldViolations()[0].GetField()
		}
	}
	return ""
}

func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}
