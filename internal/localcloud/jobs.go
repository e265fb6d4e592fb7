package localcloud

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// job is one stored job. Its message is replaced, never changed in place, so that it may be handed out without a copy under lock.
type job struct {
	pb        *schedulerpb.Job
	timetable timetable
	due       *event // the next scheduled run
	// changing is set while a change of the job is under way; another one meanwhile is refused.
	changing bool
	// current is the scheduled run that is not over yet; waiting is the schedule time of the one that it delays.
	current *execution
	waiting time.Time
}

// edit replaces the stored message by a changed copy.
func (j *job) edit(change func(*schedulerpb.Job)) {
	next, _ := proto.Clone(j.pb).(*schedulerpb.Job)
	change(next)
	j.pb = next
}

func errNoJob() error { return status.Error(codes.NotFound, "Job not found.") }

// mutate runs one change of a job for as long as changes take. The change sees the job under lock.
func (s *scheduler) mutate(ctx context.Context, name string, change func(*job) error) error {
	_, err := parseJobName(name)
	if err != nil {
		return err
	}

	s.mu.Lock()
	j, found := s.jobs[name]

	if found && j.changing {
		s.mu.Unlock()

		return status.Error(codes.Aborted, "sync mutate calls cannot be queued")
	}

	if !found {
		s.mu.Unlock()

		return errNoJob()
	}

	j.changing = true
	s.mu.Unlock()

	slept := sleep(ctx, s.cfg.MutationTime)

	s.mu.Lock()
	defer s.mu.Unlock()

	j.changing = false

	if slept != nil {
		return status.FromContextError(slept).Err()
	}

	return change(j)
}

// sleep waits in real time; zero does not wait at all.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}

	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare makes the message that is stored out of the one that a client sent, or says why it is refused.
func prepare(sent *schedulerpb.Job) (*schedulerpb.Job, timetable, error) {
	name, err := parseJobName(sent.GetName())
	if err != nil {
		return nil, nil, err
	}

	next, _ := proto.Clone(sent).(*schedulerpb.Job)
	normalise(next, name.project)

	times, err := newTimetable(next.GetSchedule(), next.GetTimeZone())
	if err != nil {
		return nil, nil, err
	}

	err = validate(next, name.project)
	if err != nil {
		return nil, nil, err
	}

	return next, times, nil
}

func (s *scheduler) create(ctx context.Context, parent string, sent *schedulerpb.Job) (*schedulerpb.Job, error) {
	at, err := parseParent(parent, "cloudscheduler.jobs.create")
	if err != nil {
		return nil, err
	}

	asked, _ := proto.Clone(sent).(*schedulerpb.Job)
	if asked == nil {
		return nil, invalid("Job is required.")
	}

	if asked.GetName() == "" {
		at.job = strings.ToLower(rand.Text())
		asked.Name = at.String()
	}

	if name, nameErr := parseJobName(asked.GetName()); nameErr != nil {
		return nil, nameErr
	} else if name.parent() != at.parent() {
		return nil, invalid("Job name %q must begin with the parent %q.", asked.GetName(), parent)
	}

	next, times, err := prepare(asked)
	if err != nil {
		return nil, err
	}

	now := s.cfg.Clock.Now()
	next.State = schedulerpb.Job_ENABLED
	next.UserUpdateTime = timestamppb.New(now)
	next.Status, next.LastAttemptTime, next.ScheduleTime = nil, nil, nil

	s.mu.Lock()

	if _, found := s.jobs[next.GetName()]; found {
		s.mu.Unlock()

		return nil, status.Errorf(codes.AlreadyExists, "Job %s already exists.", next.GetName())
	}

	j := &job{pb: next, timetable: times, changing: true}
	s.jobs[next.GetName()] = j
	s.arm(j, now)
	s.mu.Unlock()

	// The job is there at once; until the call returns, other changes of it are refused.
	_ = sleep(ctx, s.cfg.MutationTime)

	s.mu.Lock()
	defer s.mu.Unlock()

	j.changing = false

	return j.pb, nil
}

func (s *scheduler) get(name string) (*schedulerpb.Job, error) {
	_, err := parseJobName(name)
	if err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	j, found := s.jobs[name]
	if !found {
		return nil, errNoJob()
	}

	return j.pb, nil
}

func (s *scheduler) list(req *schedulerpb.ListJobsRequest) (*schedulerpb.ListJobsResponse, error) {
	at, err := parseParent(req.GetParent(), "cloudscheduler.jobs.list")
	if err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	var names []string

	for name := range s.jobs {
		if strings.HasPrefix(name, at.parent()+"/jobs/") {
			names = append(names, name)
		}
	}

	slices.Sort(names)

	from, to, next, err := page(req.GetPageSize(), req.GetPageToken(), names)
	if err != nil {
		return nil, err
	}

	resp := &schedulerpb.ListJobsResponse{NextPageToken: next}
	for _, name := range names[from:to] {
		resp.Jobs = append(resp.Jobs, s.jobs[name].pb)
	}

	return resp, nil
}

func (s *scheduler) update(ctx context.Context, req *schedulerpb.UpdateJobRequest) (*schedulerpb.Job, error) {
	var stored *schedulerpb.Job

	err := s.mutate(ctx, req.GetJob().GetName(), func(j *job) error {
		merged, _ := proto.Clone(j.pb).(*schedulerpb.Job)

		err := applyMask(merged, req.GetJob(), req.GetUpdateMask())
		if err != nil {
			return err
		}

		merged.Name = j.pb.GetName()
		followURI(j.pb, merged)

		next, times, err := prepare(merged)
		if err != nil {
			return err
		}

		// What clients cannot set stays as it is.
		next.State, next.Status = j.pb.GetState(), j.pb.GetStatus()
		next.LastAttemptTime, next.ScheduleTime = j.pb.GetLastAttemptTime(), j.pb.GetScheduleTime()
		next.UserUpdateTime = timestamppb.New(s.cfg.Clock.Now())

		if _, broken := s.faults.take(j.pb.GetName(), UpdateFailed); broken {
			j.edit(func(pb *schedulerpb.Job) { pb.State = schedulerpb.Job_UPDATE_FAILED })
			s.disarm(j)

			return status.Error(codes.Internal, "The update failed and the job may not run until an update succeeds.")
		}

		if next.GetState() == schedulerpb.Job_UPDATE_FAILED {
			next.State = schedulerpb.Job_ENABLED
		}

		j.pb, j.timetable = next, times
		s.arm(j, s.cfg.Clock.Now())
		stored = j.pb

		return nil
	})

	return stored, err
}

func (s *scheduler) remove(ctx context.Context, name string) error {
	return s.mutate(ctx, name, func(j *job) error {
		s.disarm(j)
		s.abandon(j.current)
		delete(s.jobs, name)

		return nil
	})
}

func (s *scheduler) pause(ctx context.Context, name string) (*schedulerpb.Job, error) {
	return s.setState(ctx, name, schedulerpb.Job_PAUSED, "PauseJob", schedulerpb.Job_ENABLED)
}

func (s *scheduler) resume(ctx context.Context, name string) (*schedulerpb.Job, error) {
	return s.setState(ctx, name, schedulerpb.Job_ENABLED, "ResumeJob", schedulerpb.Job_PAUSED, schedulerpb.Job_ENABLED)
}

func (s *scheduler) setState(
	ctx context.Context, name string, state schedulerpb.Job_State, call string, from ...schedulerpb.Job_State,
) (*schedulerpb.Job, error) {
	var stored *schedulerpb.Job

	err := s.mutate(ctx, name, func(j *job) error {
		if !slices.Contains(from, j.pb.GetState()) {
			return status.Errorf(codes.FailedPrecondition, "Job state must be %s for %s, but it is %s.", from[0], call, j.pb.GetState())
		}

		now := s.cfg.Clock.Now()

		if j.pb.GetState() != state {
			j.edit(func(pb *schedulerpb.Job) {
				pb.State = state
				pb.UserUpdateTime = timestamppb.New(now)
			})
		}

		if state == schedulerpb.Job_PAUSED {
			s.abandon(j.current)
		}

		s.arm(j, now)
		stored = j.pb

		return nil
	})

	return stored, err
}

// followURI lets an audience that was filled in from the URI follow a change of the URI alone.
func followURI(before, after *schedulerpb.Job) {
	was, token := before.GetHttpTarget(), after.GetHttpTarget().GetOidcToken()
	if token != nil && was.GetUri() != after.GetHttpTarget().GetUri() &&
		was.GetOidcToken().GetAudience() == was.GetUri() && token.GetAudience() == was.GetUri() {
		token.Audience = ""
	}
}
