package localcloud

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud/groc"
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

type grocTimetable struct {
	schedule groc.Schedule
	zone     *time.Location
}

func (t grocTimetable) next(after time.Time) time.Time { return t.schedule.Next(after, t.zone) }

// intervalTimetable counts from the end of the run before. Its runs have no grid, and their deliveries promise no schedule time.
type intervalTimetable struct{ every time.Duration }

func (t intervalTimetable) next(after time.Time) time.Time { return after.Add(t.every) }

// countsFromEnd says that the next run is due only once the one before is over.
func countsFromEnd(t timetable) bool {
	_, counts := t.(intervalTimetable)

	return counts
}

// promised is the schedule time that deliveries of a run carry: none where runs have no grid.
func promised(t timetable, at time.Time) time.Time {
	if countsFromEnd(t) {
		return time.Time{}
	}

	return at
}

// newTimetable reads a schedule and its time zone; the real server has one message for everything that is wrong with either.
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

	read, understood := groc.Parse(schedule)

	switch {
	case !understood:
		return nil, wrong
	case read.FromEnd() > 0:
		return intervalTimetable{every: read.FromEnd()}, nil
	default:
		return grocTimetable{schedule: read, zone: loc}, nil
	}
}
