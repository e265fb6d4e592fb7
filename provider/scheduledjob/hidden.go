package scheduledjob

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// hiddenHeadersKey is the private key under which the names of write-only headers are kept, so that a read can tell them from headers
// that somebody added by hand. Their values are kept nowhere.
const hiddenHeadersKey = "hidden_headers"

// requestOf is what the configured target of either kind has in common, with its block. Nil: there is none, or it is not known yet.
func (m model) requestOf(diags *diag.Diagnostics) (target *request, block string) {
	if web, _ := only[httpTarget](m.HTTPTarget, diags); web != nil {
		return &web.request, "http_target"
	}
	if engine, _ := only[appEngineTarget](m.AppEngineTarget, diags); engine != nil {
		return &engine.request, "app_engine_http_target"
	}
	return nil, ""
}

// hiddenHeaders are the write-only headers of a configuration; plans and states hold none.
func (m model) hiddenHeaders(diags *diag.Diagnostics) map[string]string {
	target, _ := m.requestOf(diags)
	if target == nil {
		return nil
	}
	return mapToAPI(target.HeadersWO)
}

// hiddenVersion stands for the values of the write-only headers.
func (m model) hiddenVersion(diags *diag.Diagnostics) types.String {
	target, _ := m.requestOf(diags)
	if target == nil {
		return types.StringNull()
	}
	return target.HeadersWOVersion
}

// checkHidden demands both of headers_wo and its version, or neither: one without the other would never be sent again, or say nothing.
func (m model) checkHidden(diags *diag.Diagnostics) {
	target, block := m.requestOf(diags)
	if target == nil || target.HeadersWO.IsUnknown() || target.HeadersWOVersion.IsUnknown() {
		return
	}
	at := path.Root(block).AtListIndex(0)
	switch job := m.Name.ValueString(); {
	case !target.HeadersWO.IsNull() && target.HeadersWOVersion.IsNull():
		diags.AddAttributeError(at.AtName("headers_wo"), fmt.Sprintf("%s.headers_wo of job %q has no version", block, job),
			"The values of headers_wo are kept nowhere, so that a changed one cannot be seen.\n\n"+
				"Set headers_wo_version, and change it whenever a value changes.")
	case target.HeadersWO.IsNull() && !target.HeadersWOVersion.IsNull():
		diags.AddAttributeError(at.AtName("headers_wo_version"), fmt.Sprintf("%s.headers_wo_version of job %q stands for nothing", block, job),
			"It stands for the values of headers_wo, which is not set.\n\nSet headers_wo, or remove headers_wo_version.")
	}
}

// addHeaders adds write-only headers to the target.
func addHeaders(job *schedulerpb.Job, hidden map[string]string) {
	headers := job.GetHttpTarget().GetHeaders()
	if job.GetAppEngineHttpTarget() != nil {
		headers = job.GetAppEngineHttpTarget().GetHeaders()
	}
	if headers != nil {
		maps.Copy(headers, hidden)
	}
}

// rememberHidden keeps the names of the write-only headers.
func rememberHidden(ctx context.Context, private privateWriter, hidden map[string]string, diags *diag.Diagnostics) {
	names := []string{}
	for name := range hidden {
		names = append(names, textproto.CanonicalMIMEHeaderKey(name))
	}
	slices.Sort(names)
	text, err := json.Marshal(names)
	if err != nil {
		diags.AddError("Unable to keep the names of write-only headers", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, hiddenHeadersKey, text)...)
}

// hiddenNames are the names that rememberHidden kept, none for a job that was imported or moved.
func hiddenNames(ctx context.Context, private privateReader, diags *diag.Diagnostics) []string {
	text, found := private.GetKey(ctx, hiddenHeadersKey)
	diags.Append(found...)
	if len(text) == 0 {
		return nil
	}
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		diags.AddError("Unable to read the names of write-only headers", err.Error())
	}
	return names
}
