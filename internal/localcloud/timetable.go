package localcloud

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// timetable says when a job is due.
type timetable interface {
	// next is the first time after another at which the job is due; zero: never.
	next(after time.Time) time.Time
}

type cronTimetable struct {
	schedule unixcron.Schedule
	zone     *time.Location
}

func (t cronTimetable) next(after time.Time) time.Time { return t.schedule.Next(after, t.zone) }

// noTimetable belongs to jobs that run only when they are forced to.
type noTimetable struct{}

func (noTimetable) next(time.Time) time.Time { return time.Time{} }

// newTimetable reads a schedule and its time zone; the real server has one message for everything that is wrong with either. A groc
// schedule is accepted; it is followed where a unix-cron schedule with the same grid exists.
func newTimetable(schedule, zone string) (timetable, error) {
	wrong := status.Error(codes.InvalidArgument, "Schedule or time zone is invalid.")

	loc, err := unixcron.LoadLocation(zone)
	if err != nil {
		return nil, wrong
	}

	parsed, err := unixcron.Parse(schedule)
	if err == nil {
		return cronTimetable{schedule: parsed, zone: loc}, nil
	}

	if !unixcron.IsGroc(schedule) {
		return nil, wrong
	}

	same, found := unixcron.FromGroc(schedule)
	if !found {
		return noTimetable{}, nil
	}

	parsed, err = unixcron.Parse(same)
	if err != nil {
		return nil, wrong
	}

	return cronTimetable{schedule: parsed, zone: loc}, nil
}
