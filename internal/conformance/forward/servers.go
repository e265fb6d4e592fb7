package forward

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"cloud.google.com/go/run/apiv2/runpb"
	"cloud.google.com/go/workflows/executions/apiv1/executionspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
)

// Register serves the three APIs.
func (w *World) Register(server *grpc.Server) {
	executionspb.RegisterExecutionsServer(server, workflows{w: w})
	runpb.RegisterJobsServer(server, runJobs{w: w})
	runpb.RegisterExecutionsServer(server, runExecutions{w: w})
	cloudbuildpb.RegisterCloudBuildServer(server, builds{w: w})
}

type workflows struct {
	executionspb.UnimplementedExecutionsServer

	w *World
}

func (s workflows) CreateExecution(ctx context.Context, in *executionspb.CreateExecutionRequest) (*executionspb.Execution, error) {
	started, err := s.w.start(ctx, in.GetParent(), in.GetExecution().GetLabels()[forward.LabelRunID], in.GetExecution(), func(n int) string {
		return fmt.Sprintf("%s/executions/%08x", in.GetParent(), n)
	})
	if err != nil {
		return nil, err
	}
	return executionOf(started), nil
}

func executionOf(s Started) *executionspb.Execution {
	e := proto.CloneOf(s.Body.(*executionspb.Execution)) //nolint:forcetypeassert // what CreateExecution put there
	e.Name, e.StartTime = s.Name, timestamppb.New(s.Created)
	return e
}

func (s workflows) ListExecutions(ctx context.Context, in *executionspb.ListExecutionsRequest) (*executionspb.ListExecutionsResponse, error) {
	seen, err := s.w.list(ctx, in.GetParent())
	if err != nil {
		return nil, err
	}
	if filter := in.GetFilter(); filter != "" {
		token, ok := strings.CutPrefix(filter, "labels."+forward.LabelRunID+"=")
		if !ok || s.w.NoFilter {
			return nil, status.Errorf(codes.InvalidArgument, "filter %q", filter)
		}
		seen = with(seen, func(s Started) bool { return fmt.Sprintf("%q", s.Token) == token })
	}
	cut, next := page(seen, in.GetPageSize(), in.GetPageToken())
	out := &executionspb.ListExecutionsResponse{NextPageToken: next}
	for _, s := range cut {
		e := executionOf(s)
		if in.GetView() != executionspb.ExecutionView_FULL {
			e.Labels, e.Argument = nil, ""
		}
		out.Executions = append(out.Executions, e)
	}
	return out, nil
}

type runJobs struct {
	runpb.UnimplementedJobsServer

	w *World
}

func (s runJobs) RunJob(ctx context.Context, in *runpb.RunJobRequest) (*longrunningpb.Operation, error) {
	started, err := s.w.start(ctx, in.GetName(), variableOf(in, forward.EnvRunID), in, func(n int) string {
		return fmt.Sprintf("%s/executions/e-%05d", in.GetName(), n)
	})
	if err != nil {
		return nil, err
	}
	return operation(started.Name, runExecutionOf(started))
}

func variableOf(in *runpb.RunJobRequest, name string) string {
	for _, c := range in.GetOverrides().GetContainerOverrides() {
		for _, v := range c.GetEnv() {
			if v.GetName() == name {
				return v.GetValue()
			}
		}
	}
	return ""
}

func runExecutionOf(s Started) *runpb.Execution {
	request, _ := s.Body.(*runpb.RunJobRequest)
	var env []*runpb.EnvVar
	for _, c := range request.GetOverrides().GetContainerOverrides() {
		env = append(env, c.GetEnv()...)
	}
	return &runpb.Execution{
		Name: s.Name, Job: s.Parent, CreateTime: timestamppb.New(s.Created),
		Template: &runpb.TaskTemplate{Containers: []*runpb.Container{{Name: "main", Env: env}}},
	}
}

type runExecutions struct {
	runpb.UnimplementedExecutionsServer

	w *World
}

func (s runExecutions) ListExecutions(ctx context.Context, in *runpb.ListExecutionsRequest) (*runpb.ListExecutionsResponse, error) {
	seen, err := s.w.list(ctx, in.GetParent())
	if err != nil {
		return nil, err
	}
	cut, next := page(seen, in.GetPageSize(), in.GetPageToken())
	out := &runpb.ListExecutionsResponse{NextPageToken: next}
	for _, s := range cut {
		out.Executions = append(out.Executions, runExecutionOf(s))
	}
	return out, nil
}

type builds struct {
	cloudbuildpb.UnimplementedCloudBuildServer

	w *World
}

func (s builds) RunBuildTrigger(ctx context.Context, in *cloudbuildpb.RunBuildTriggerRequest) (*longrunningpb.Operation, error) {
	parent, _, found := strings.Cut(in.GetName(), "/triggers/")
	if !found || in.GetTriggerId() == "" || in.GetProjectId() == "" {
		return nil, status.Errorf(codes.InvalidArgument, "trigger %q", in.GetName())
	}
	started, err := s.w.start(ctx, parent, in.GetSource().GetSubstitutions()[forward.SubstitutionRunID], in, func(n int) string {
		return fmt.Sprintf("%s/builds/%08x-0000-4000-8000-000000000000", parent, n)
	})
	if err != nil {
		return nil, err
	}
	return operation("operations/build/"+started.Name, &cloudbuildpb.BuildOperationMetadata{Build: buildOf(started)})
}

func buildOf(s Started) *cloudbuildpb.Build {
	in, _ := s.Body.(*cloudbuildpb.RunBuildTriggerRequest)
	return &cloudbuildpb.Build{
		Name: s.Name, Id: s.Name[strings.LastIndex(s.Name, "/")+1:], ProjectId: in.GetProjectId(), BuildTriggerId: in.GetTriggerId(),
		CreateTime: timestamppb.New(s.Created), Substitutions: in.GetSource().GetSubstitutions(),
	}
}

func (s builds) ListBuilds(ctx context.Context, in *cloudbuildpb.ListBuildsRequest) (*cloudbuildpb.ListBuildsResponse, error) {
	seen, err := s.w.list(ctx, in.GetParent())
	if err != nil {
		return nil, err
	}
	if filter := in.GetFilter(); filter != "" {
		since, err := time.Parse(`create_time>="`+time.RFC3339+`"`, filter)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "filter %q", filter)
		}
		seen = with(seen, func(s Started) bool { return !s.Created.Before(since) })
	}
	cut, next := page(seen, in.GetPageSize(), in.GetPageToken())
	out := &cloudbuildpb.ListBuildsResponse{NextPageToken: next}
	for _, s := range cut {
		out.Builds = append(out.Builds, buildOf(s))
	}
	return out, nil
}

func with(all []Started, keep func(Started) bool) []Started {
	var kept []Started
	for _, s := range all {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func operation(name string, metadata proto.Message) (*longrunningpb.Operation, error) {
	packed, err := anypb.New(metadata)
	if err != nil {
		return nil, fmt.Errorf("pack the metadata: %w", err)
	}
	return &longrunningpb.Operation{Name: name, Metadata: packed}, nil
}
