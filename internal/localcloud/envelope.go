package localcloud

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/codes"
)

// systemParameters are the query parameters that every Google API takes and that are no fields of any request.
func systemParameters() []string {
	return []string{
		"alt", "$alt", "key", "fields", "prettyPrint", "$prettyPrint", "quotaUser", "access_token", "oauth_token", "callback", "$.xgafv",
		"$fields", "userProject", "uploadType", "upload_protocol", "$apiVersion",
	}
}

// restFront makes a transcoded API behave like a Google front end: system parameters are taken off, masks may be written in either
// case, and errors come in Google's envelope.
func restFront(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set(headerTransport, "rest")
		// Answers are small and errors are rewritten: nothing is compressed.
		r.Header.Del("Accept-Encoding")
		r.Header.Del("X-Server-Timeout")

		if kind := r.Header.Get(headerContentType); kind != "" {
			r.Header.Set(headerContentType, "application/json")

			if base, _, _ := strings.Cut(kind, ";"); !strings.EqualFold(strings.TrimSpace(base), "application/json") && r.ContentLength != 0 {
				writeError(w, http.StatusBadRequest, codes.InvalidArgument.String(), "The content type must be application/json.", nil)

				return
			}
		}

		query := r.URL.Query()
		for _, name := range systemParameters() {
			query.Del(name)
		}

		camelMasks(query)
		r.URL.RawQuery = query.Encode()

		wrapped := &envelopeWriter{ResponseWriter: w}
		next.ServeHTTP(wrapped, r)
		wrapped.finish(r)
	})
}

// camelMasks rewrites update masks to the only spelling that the JSON form of a field mask has.
func camelMasks(query url.Values) {
	for _, name := range []string{"updateMask", "update_mask"} {
		for i, mask := range query[name] {
			query[name][i] = camel(mask)
		}
	}
}

func camel(s string) string {
	parts := strings.Split(s, "_")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}

	return strings.Join(parts, "")
}

// envelopeWriter holds back the body of an error and writes it in Google's form.
type envelopeWriter struct {
	http.ResponseWriter

	code int
	body bytes.Buffer
}

func (w *envelopeWriter) WriteHeader(code int) {
	if w.code != 0 {
		return
	}

	w.code = code
	if code < http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(code)
	}
}

func (w *envelopeWriter) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}

	if w.code < http.StatusBadRequest {
		return w.ResponseWriter.Write(p)
	}

	return w.body.Write(p)
}

// Flush does nothing for errors, which are written at the end.
func (w *envelopeWriter) Flush() {
	if flusher, can := w.ResponseWriter.(http.Flusher); can && w.code != 0 && w.code < http.StatusBadRequest {
		flusher.Flush()
	}
}

// finish writes what was held back.
func (w *envelopeWriter) finish(r *http.Request) {
	if w.code < http.StatusBadRequest {
		return
	}

	var sent struct {
		Code    codes.Code        `json:"code"`
		Message string            `json:"message"`
		Details []json.RawMessage `json:"details"`
	}

	err := json.Unmarshal(w.body.Bytes(), &sent)
	if err != nil || sent.Code == codes.OK {
		sent.Code, sent.Message = codeOf(w.code), strings.TrimSpace(w.body.String())
	}

	if sent.Message == "" {
		sent.Message = http.StatusText(w.code)
	}

	w.code, sent.Code, sent.Message = asGoogleRefuses(r, w.code, sent.Code, sent.Message)

	for _, name := range []string{"Content-Length", "Content-Encoding", "Trailer", "Grpc-Message", "Grpc-Status"} {
		w.Header().Del(name)
	}

	writeError(w.ResponseWriter, w.code, sent.Code.String(), sent.Message, sent.Details)
}

// writeError writes the error envelope of Google's REST APIs.
func writeError(w http.ResponseWriter, code int, name, message string, details []json.RawMessage) {
	type inner struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Status  string            `json:"status"`
		Details []json.RawMessage `json:"details,omitempty"`
	}

	writeJSON(w, code, map[string]inner{"error": {Code: code, Message: message, Status: upperSnake(name), Details: details}})
}

// upperSnake spells InvalidArgument as INVALID_ARGUMENT.
func upperSnake(name string) string {
	var out strings.Builder

	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && !strings.HasSuffix(name[:i], "O") {
			out.WriteByte('_')
		}

		out.WriteRune(r)
	}

	return strings.ToUpper(out.String())
}
