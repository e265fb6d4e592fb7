package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/workflows/executions/apiv1/executionspb"
	"github.com/goccy/go-yaml"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// step is the one HTTP step of a workflow.
type step struct {
	Call string `yaml:"call"`
	Args struct {
		URL     string            `yaml:"url"`
		Headers map[string]string `yaml:"headers"`
		Body    map[string]string `yaml:"body"`
	} `yaml:"args"`
}

// standIn is Workflows as far as workflow.yaml needs it: it starts executions, lists them, and runs their one HTTP step.
type standIn struct {
	executionspb.UnimplementedExecutionsServer

	step step

	mu      sync.Mutex
	started []*executionspb.Execution
	replies []int // statuses that the step was answered with
	lose    int   // replies of CreateExecution still to be lost
	running sync.WaitGroup
}

// newStandIn reads the workflow.
func newStandIn(t *testing.T) *standIn {
	t.Helper()
	source, err := os.ReadFile("workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Main struct {
			Steps []map[string]step `yaml:"steps"`
		} `yaml:"main"`
	}
	if err := yaml.Unmarshal(source, &file); err != nil {
		t.Fatal(err)
	}
	for _, named := range file.Main.Steps {
		for _, s := range named {
			if s.Call == "http.post" {
				return &standIn{step: s}
			}
		}
	}
	t.Fatal("workflow.yaml has no step that calls http.post")
	return nil
}

func (s *standIn) CreateExecution(_ context.Context, in *executionspb.CreateExecutionRequest) (*executionspb.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := proto.CloneOf(in.GetExecution())
	e.Name = fmt.Sprintf("%s/executions/%d", in.GetParent(), len(s.started))
	s.started = append(s.started, e)
	s.running.Go(func() { s.execute(e) })
	if s.lose > 0 {
		s.lose--
		return nil, status.Error(codes.Unavailable, "the reply was lost")
	}
	return e, nil
}

func (s *standIn) ListExecutions(_ context.Context, in *executionspb.ListExecutionsRequest) (*executionspb.ListExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &executionspb.ListExecutionsResponse{}
	for _, e := range s.started {
		for key, value := range e.GetLabels() {
			if in.GetFilter() == fmt.Sprintf("labels.%s=%q", key, value) {
				out.Executions = append(out.Executions, e)
			}
		}
	}
	return out, nil
}

// execute runs the step and notes what it was answered. A request that fails is noted as 0.
func (s *standIn) execute(e *executionspb.Execution) {
	var args any
	if err := json.Unmarshal([]byte(e.GetArgument()), &args); err != nil {
		s.note(0)
		return
	}
	body := map[string]string{}
	for key, value := range s.step.Args.Body {
		body[key] = evaluate(value, args)
	}
	text, err := json.Marshal(body)
	if err != nil {
		s.note(0)
		return
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, evaluate(s.step.Args.URL, args), strings.NewReader(string(text)))
	if err != nil {
		s.note(0)
		return
	}
	for name, value := range s.step.Args.Headers {
		request.Header.Set(name, evaluate(value, args))
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		s.note(0)
		return
	}
	_ = reply.Body.Close()
	s.note(reply.StatusCode)
}

func (s *standIn) note(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, code)
}

// evaluate looks up ${args.a.b} in the argument; any other text stands for itself.
func evaluate(text string, args any) string {
	path, ok := strings.CutPrefix(strings.TrimSuffix(text, "}"), "${args.")
	if !ok {
		return text
	}
	for name := range strings.SplitSeq(path, ".") {
		fields, _ := args.(map[string]any)
		args = fields[name]
	}
	return fmt.Sprint(args)
}
