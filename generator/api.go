package generator

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// API says how a handler of kind api guards requests that carry an Idempotency-Key. The zero value is right for most.
type API struct {
	// Window is how long after its completion a request gets its answer again. Zero: the library's default, 3 h.
	Window time.Duration
	// TenantHeader is the request header that names the tenant, set by what stands before the handler and authenticates callers.
	// Empty: a function of the user's names the tenant.
	TenantHeader string
	// KeyOptional lets mutating requests without a key through, unguarded. False: they are refused.
	KeyOptional bool
	// Codes and Statuses are what the cases of the library (reused, in_progress, …) are answered with, where an API has published
	// others: the code in the body, and the HTTP status.
	Codes    map[string]string
	Statuses map[string]int
	// CodeMember is the name of the code in those bodies. Empty: code.
	CodeMember string
	// Lapse says what becomes of a key whose attempt died: unknown, in_transaction or rerun. Empty: unknown.
	Lapse string
	// AcceptFailoverLoss admits a store that may forget keys when it fails over, as Redis does.
	AcceptFailoverLoss bool
}

// lapses are the values of Lapse and the constants that they stand for.
func lapses() map[string]string {
	return map[string]string{"": "", "unknown": "", "in_transaction": "LapseInTransaction", "rerun": "LapseRerun"}
}

// problemCodes are the cases that can be answered otherwise, and their constants.
func problemCodes() map[idempotencykey.Code]string {
	return map[idempotencykey.Code]string{
		idempotencykey.CodeKeyMissing: "CodeKeyMissing", idempotencykey.CodeKeyInvalid: "CodeKeyInvalid",
		idempotencykey.CodeKeyTooLong: "CodeKeyTooLong", idempotencykey.CodeReused: "CodeReused",
		idempotencykey.CodeInProgress: "CodeInProgress", idempotencykey.CodeUnknown: "CodeUnknown",
		idempotencykey.CodeFailed: "CodeFailed", idempotencykey.CodeExpired: "CodeExpired",
		idempotencykey.CodeResponseNotKept: "CodeResponseNotKept", idempotencykey.CodeUnrecorded: "CodeUnrecorded",
		idempotencykey.CodeUnavailable: "CodeUnavailable", idempotencykey.CodeScopeMissing: "CodeScopeMissing",
		idempotencykey.CodeBodyTooLarge: "CodeBodyTooLarge", idempotencykey.CodeBodyUnreadable: "CodeBodyUnreadable",
	}
}

// guarding is an API as templates see it.
type guarding struct {
	TenantHeader string
	KeyRequired  bool
	// Fields are the lines of the Go literal of the guard's configuration.
	Fields []string
	// InTransaction says that a dead attempt's key is run again, since its effect is in the transaction that completes it.
	InTransaction bool
	// Window is how long answers are repeated.
	Window time.Duration
	// ReusedStatus is what another request under a used key is answered.
	ReusedStatus int
}

// UsesTime says that the literal needs package time.
func (g guarding) UsesTime() bool { return usesTime(g.Fields) }

var (
	headerName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`) // of all that a name may hold, what people write
	codeText   = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,100}$`)
	memberName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)
)

// longestWindow keeps records within years that stores can hold.
const longestWindow = 366 * 24 * time.Hour

// api judges the part of a spec that only kind api has.
func api(spec Spec, k kind, store Store) (*guarding, []*SpecError) {
	if k.answers != operations {
		if spec.API != nil && k.name != "" {
			return nil, []*SpecError{{Field: "api", Reason: "kind " + k.name + " serves no API: choose kind api, or leave it out"}}
		}
		return nil, nil
	}
	a := spec.API
	if a == nil {
		a = &API{}
	}
	errs := slices.Concat(noJobs(spec, k), onlyPolicy(spec.Policy, k, "timeout", "lease", "renew"), a.check())
	if store.Forgets && !a.AcceptFailoverLoss {
		errs = append(errs, &SpecError{Field: "store", Reason: store.Title + " may forget keys when it fails over, and a request that is repeated " +
			"after that runs twice: choose another store, or set api.accept_failover_loss"})
	}
	timeout := cmp.Or(spec.Policy.Timeout, idempotencykey.DefaultTimeout)
	if least := claim.MinLease(timeout, 0, spec.Policy.Renew); spec.Policy.Lease != 0 && spec.Policy.Lease < least {
		errs = append(errs, &SpecError{
			Field: "policy.lease", Value: spec.Policy.Lease.String(), Reason: fmt.Sprintf("it is too short for requests of %v: at least %v", timeout, least),
		})
	}
	reused := a.Statuses[string(idempotencykey.CodeReused)]
	return &guarding{
		TenantHeader: http.CanonicalHeaderKey(a.TenantHeader), KeyRequired: !a.KeyOptional, Fields: a.literal(spec.Policy),
		InTransaction: a.Lapse == "in_transaction", Window: cmp.Or(a.Window, idempotencykey.DefaultWindow),
		ReusedStatus: cmp.Or(reused, http.StatusConflict),
	}, errs
}

func (a API) check() []*SpecError {
	var errs []*SpecError
	refuse := func(bad bool, field, value, reason string) {
		if bad {
			errs = append(errs, &SpecError{Field: "api." + field, Value: value, Reason: reason})
		}
	}
	refuse(a.Window < 0 || a.Window > longestWindow, "window", a.Window.String(), fmt.Sprintf("it must be a positive duration of %v at most", longestWindow))
	refuse(a.TenantHeader != "" && !headerName.MatchString(a.TenantHeader), "tenant_header", a.TenantHeader, "it must match "+trimAnchors(headerName))
	refuse(strings.EqualFold(a.TenantHeader, idempotencykey.DefaultHeader), "tenant_header", a.TenantHeader, "it carries the key, not the tenant")
	refuse(a.CodeMember != "" && !memberName.MatchString(a.CodeMember), "code_member", a.CodeMember, "it must match "+trimAnchors(memberName))
	refuse(slices.Contains([]string{"status", "type", "title", "detail"}, a.CodeMember), "code_member", a.CodeMember, "RFC 9457 has another meaning for it")
	_, known := lapses()[a.Lapse]
	refuse(!known, "lapse", a.Lapse, "it must be unknown, in_transaction or rerun")
	for _, name := range slices.Sorted(maps.Keys(a.Codes)) {
		refuse(unknownCase(name), "codes."+name, "", noSuchCase())
		refuse(!codeText.MatchString(a.Codes[name]), "codes."+name, a.Codes[name], "it must match "+trimAnchors(codeText))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Statuses)) {
		refuse(unknownCase(name), "statuses."+name, "", noSuchCase())
		status := a.Statuses[name]
		refuse(status < 400 || status > 599, "statuses."+name, strconv.Itoa(status), "it must be an error's, from 400 to 599")
	}
	return errs
}

func trimAnchors(r *regexp.Regexp) string { return strings.Trim(r.String(), "^$") }

func unknownCase(name string) bool {
	_, known := problemCodes()[idempotencykey.Code(name)]
	return !known
}

func noSuchCase() string {
	var names []string
	for code := range problemCodes() {
		names = append(names, string(code))
	}
	slices.Sort(names)
	return "there is no such case; the cases are " + strings.Join(names, ", ")
}

// literal writes the fields of the guard's configuration that differ from the library's defaults.
func (a API) literal(p run.Policy) []string {
	var lines []string
	set := func(given bool, format string, args ...any) {
		if given {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	set(!a.KeyOptional, "RequireKey: true,")
	set(a.Window != 0, "Window: %s,", goDuration(a.Window))
	set(p.Timeout != 0, "Timeout: %s,", goDuration(p.Timeout))
	set(p.Lease != 0, "Lease: %s,", goDuration(p.Lease))
	set(p.Renew, "Renew: true,")
	set(lapses()[a.Lapse] != "", "Lapse: idempotencykey.%s,", lapses()[a.Lapse])
	set(a.AcceptFailoverLoss, "AcceptFailoverLoss: true,")
	set(a.CodeMember != "", "CodeMember: %q,", a.CodeMember)
	names := slices.Sorted(maps.Keys(problemCodes()))
	names = slices.DeleteFunc(names, func(code idempotencykey.Code) bool {
		return a.Codes[string(code)] == "" && a.Statuses[string(code)] == 0
	})
	if len(names) == 0 {
		return lines
	}
	lines = append(lines, "Problems: map[idempotencykey.Code]idempotencykey.Problem{")
	for _, code := range names {
		var fields []string
		if status := a.Statuses[string(code)]; status != 0 {
			fields = append(fields, fmt.Sprintf("Status: %d", status))
		}
		if text := a.Codes[string(code)]; text != "" {
			fields = append(fields, fmt.Sprintf("Code: %q", text))
		}
		lines = append(lines, fmt.Sprintf("idempotencykey.%s: {%s},", problemCodes()[code], strings.Join(fields, ", ")))
	}
	return append(lines, "},")
}
