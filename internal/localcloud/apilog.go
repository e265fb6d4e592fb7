package localcloud

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// headerTransport marks what came in as REST, for the record.
const headerTransport = "X-Idempotent-Transport"

// APIRequest is one call of an API, over gRPC or REST.
type APIRequest struct {
	// Method is the name of the RPC, such as CreateJob, and Service that of its service.
	Method  string `json:"method"`
	Service string `json:"service"`
	// Resource is the name or parent that the call is about.
	Resource string `json:"resource"`
	// Mask holds the paths of the update mask; nil: there was none.
	Mask []string `json:"mask,omitempty"`
	// REST says that the call came in as REST.
	REST bool `json:"rest,omitempty"`
	// Time is the real time of arrival.
	Time time.Time `json:"time"`
	// Code is what was answered.
	Code codes.Code `json:"code"`
	// Message is a copy of the request.
	Message proto.Message `json:"-"`
}

// apiFault is an answer that is given in place of the true one.
type apiFault struct {
	method string
	// err is what is answered; nil: that the quota of the method is used up.
	err   error
	times int
	// after lets the call take effect first.
	after bool
}

// apiLog remembers API calls and makes them fail on request.
type apiLog struct {
	limit int
	// changed is told of calls that may have changed something; nil: nobody is.
	changed func()

	mu     sync.Mutex
	calls  []APIRequest
	faults []*apiFault
}

func (f *apiFault) answer(method string) error {
	if f.err == nil {
		return errQuota(method)
	}

	return f.err
}

func newAPILog(cfg Config) *apiLog { return &apiLog{limit: cfg.History} }

func (l *apiLog) list() []APIRequest {
	l.mu.Lock()
	defer l.mu.Unlock()

	return slices.Clone(l.calls)
}

func (l *apiLog) fail(fault apiFault) {
	if fault.times <= 0 {
		fault.times = 1
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	l.faults = append(l.faults, &fault)
}

func (l *apiLog) take(method string) *apiFault {
	l.mu.Lock()
	defer l.mu.Unlock()

	for i, fault := range l.faults {
		if fault.method != "" && fault.method != method {
			continue
		}

		fault.times--

		if fault.times == 0 {
			l.faults = slices.Delete(l.faults, i, i+1)
		}

		return fault
	}

	return nil
}

// intercept records each call and gives the answers that were asked for.
func (l *apiLog) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	call := APIRequest{Method: path.Base(info.FullMethod), Service: strings.Trim(path.Dir(info.FullMethod), "/"), Time: time.Now()}

	md, _ := metadata.FromIncomingContext(ctx)
	call.REST = len(md.Get(headerTransport)) > 0

	if msg, isProto := req.(proto.Message); isProto {
		call.Message = proto.Clone(msg)
		call.Resource = resourceOf(msg)
		call.Mask = maskOf(msg)
	}

	var (
		resp any
		err  error
	)

	fault := l.take(call.Method)
	if fault == nil || fault.after {
		resp, err = handle(ctx, req)
	}

	if fault != nil && err == nil {
		resp, err = nil, fault.answer(call.Method)
	}

	call.Code = status.Code(err)

	if l.changed != nil && !reads(call.Method) {
		l.changed()
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if len(l.calls) >= l.limit {
		l.calls = slices.Clone(l.calls[l.limit/4+1:])
	}

	l.calls = append(l.calls, call)

	return resp, err
}

// reads says that calls of a method change nothing.
func reads(method string) bool {
	return strings.HasPrefix(method, "Get") || strings.HasPrefix(method, "List")
}

// resourceOf is the name that a request is about: its own, its resource's or its parent.
func resourceOf(msg proto.Message) string {
	m := msg.ProtoReflect()
	if name := stringField(m, "name"); name != "" {
		return name
	}

	for _, part := range []protoreflect.Name{"job", "field"} {
		if field := m.Descriptor().Fields().ByName(part); field != nil && field.Message() != nil {
			if name := stringField(m.Get(field).Message(), "name"); name != "" {
				return name
			}
		}
	}

	return stringField(m, "parent")
}

func stringField(m protoreflect.Message, name protoreflect.Name) string {
	field := m.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind {
		return ""
	}

	return m.Get(field).String()
}

func maskOf(msg proto.Message) []string {
	masked, found := msg.(interface{ GetUpdateMask() *fieldmaskpb.FieldMask })
	if !found || masked.GetUpdateMask() == nil {
		return nil
	}

	return slices.Clone(masked.GetUpdateMask().GetPaths())
}
