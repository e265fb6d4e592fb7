package jobspec

import (
	"errors"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// affectedDates is how many times that a clock change skips or repeats are named.
const affectedDates = 2

func scheduleRules() []judgedRule {
	return []judgedRule{
		limit("schedule-invalid", "The schedule is not unix-cron", judgeSchedule),
		proof("schedule-groc", "The schedule is groc, which has no fixed grid", judgeGroc),
		proof("schedule-never-fires", "The schedule can never fire", judgeNeverFires),
		limit("time-zone-unknown", "The time zone does not exist", judgeZone),
		warning("schedule-both-days", "Day of month and day of week are both restricted", judgeBothDays),
		warning("schedule-clock-change", "Clock changes skip or repeat runs", judgeClockChange),
	}
}

// newSubject derives what the rules share.
func newSubject(j Job) *subject {
	s := &subject{job: j, derived: Derive(j)}
	if name, ok := j.TimeZone.Or("").Get(); ok {
		s.zone, s.zoneErr = unixcron.LoadLocation(name)
	}
	text, ok := j.Schedule.Get()
	if !ok {
		return s
	}
	schedule, err := unixcron.Parse(text)
	var bad *unixcron.Error
	switch {
	case err == nil:
		s.schedule = schedule
	case errors.As(err, &bad):
		s.scheduleErr = bad
	default:
		s.scheduleErr = &unixcron.Error{Kind: unixcron.Syntax, Expr: text, Reason: err.Error()}
	}
	return s
}

// scheduleOf is the schedule if it is known and can be read.
func scheduleOf(v *judge) (unixcron.Schedule, bool) {
	_, ok := get(v, v.job.Schedule)
	return v.schedule, ok && v.scheduleErr == nil
}

func judgeSchedule(v *judge) {
	path := Path{"schedule"}
	if !v.job.Schedule.IsSet() {
		v.fail(path, "it is missing", "Without a schedule the job never runs by itself.",
			`Set it to a unix-cron expression, for example "0 3 * * *" for 03:00 each day.`)
		return
	}
	get(v, v.job.Schedule)
	if v.scheduleErr == nil || v.scheduleErr.Kind != unixcron.Syntax {
		return
	}
	v.fail(path, quote(v.scheduleErr.Expr)+" is not unix-cron", sentence(v.scheduleErr.Error()),
		suggestion(v.scheduleErr.Suggestion, "Write five fields: minute, hour, day of month, month, day of week."))
}

func judgeGroc(v *judge) {
	get(v, v.job.Schedule)
	if v.scheduleErr == nil || v.scheduleErr.Kind != unixcron.Groc {
		return
	}
	equivalent, _ := unixcron.FromGroc(v.scheduleErr.Expr)
	v.fail(Path{"schedule"}, quote(v.scheduleErr.Expr)+" is groc, not unix-cron",
		"Intervals in groc count from the run before, so runs have no fixed grid and their deliveries carry no reliable schedule time: "+
			"retries of one run could not be told from the next run.",
		suggestion(equivalent, "No unix-cron expression has the same grid. Write the nearest one that has a grid of its own: five fields, "+
			"minute, hour, day of month, month, day of week."))
}

func judgeNeverFires(v *judge) {
	get(v, v.job.Schedule)
	if v.scheduleErr == nil || v.scheduleErr.Kind != unixcron.NeverFires {
		return
	}
	v.fail(Path{"schedule"}, quote(v.scheduleErr.Expr)+" never fires", sentence(v.scheduleErr.Error()),
		suggestion(v.scheduleErr.Suggestion, "Name a day that some month of the schedule has."))
}

func judgeZone(v *judge) {
	name, _ := get(v, v.job.TimeZone)
	if v.zoneErr != nil {
		v.fail(Path{"time_zone"}, quote(name)+" is not a time zone", sentence(v.zoneErr.Error()),
			"Set it to a name of the tz database, for example Europe/Berlin or Etc/UTC.")
	}
}

func judgeBothDays(v *judge) {
	schedule, ok := scheduleOf(v)
	if !ok || !schedule.BothDaysRestricted() {
		return
	}
	fields := strings.Fields(schedule.String())
	dayOfMonth, dayOfWeek := fields[2], fields[4]
	fields[4] = "*"
	byMonth := strings.Join(fields, " ")
	fields[2], fields[4] = "*", dayOfWeek
	v.fail(Path{"schedule"}, "a day that matches either day field is enough",
		"Day of month "+quote(dayOfMonth)+" and day of week "+quote(dayOfWeek)+" are both restricted. The job runs "+schedule.Describe()+
			": on days that match one of the two, not only on those that match both.",
		"If one of them is meant, write "+quote(byMonth)+" or "+quote(strings.Join(fields, " "))+". If either is meant, accept the risk.")
}

func judgeClockChange(v *judge) {
	schedule, ok := scheduleOf(v)
	name, known := get(v, v.job.TimeZone.Or(""))
	if !ok || !known || v.zoneErr != nil || v.job.Now.IsZero() || schedule.EveryHour() {
		return
	}
	affected := schedule.NextAffected(v.job.Now, v.zone, affectedDates)
	if len(affected) == 0 {
		return
	}
	dates := make([]string, len(affected))
	for i, a := range affected {
		dates[i] = clockChange(a)
	}
	v.fail(Path{"schedule"}, "clock changes in "+name+" skip or repeat runs", "Next: "+strings.Join(dates, "; ")+".",
		"Move the schedule to an hour that no clock change touches, set time_zone to Etc/UTC, or accept the risk.")
}

func clockChange(a unixcron.Affected) string {
	if a.Kind == unixcron.Skipped {
		return a.Wall + " does not exist"
	}
	at := make([]string, len(a.At))
	for i, t := range a.At {
		at[i] = t.UTC().Format(time.RFC3339)
	}
	return a.Wall + " comes more than once (" + strings.Join(at, ", ") + ")"
}

// suggestion is the mend of a schedule.
func suggestion(expr, otherwise string) string {
	if expr == "" {
		return otherwise
	}
	return "Write " + quote(expr) + "."
}

// sentence begins an error's text with a capital and ends it with a full stop where nothing else does.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
