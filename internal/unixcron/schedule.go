package unixcron

// Schedule is a parsed unix-cron expression. It is a value: copies are independent, == compares what was written. The zero
// Schedule comes from no expression and never fires.
type Schedule struct {
	expr string
	grid grid
}

// grid holds which wall-clock minutes match, a bit a value.
type grid struct {
	minutes uint64 // bits 0-59
	hours   uint32 // bits 0-23
	days    uint32 // of the month, bits 1-31
	months  uint32 // bits 1-12
	weekly  uint32 // days of the week, bits 0-6, Sunday first
	anyDay  bool   // the day of the month is not restricted
	anyWeek bool   // the day of the week is not restricted
	byWeek  bool   // days and months are full: the day of the week alone decides
}

const (
	allMinutes = 1<<60 - 1
	allHours   = 1<<24 - 1
	allDays    = 1<<32 - 2
	allMonths  = 1<<13 - 2
	allWeek    = 1<<7 - 1
)

// String is the expression as it was written.
func (s Schedule) String() string { return s.expr }

// BothDaysRestricted reports whether the day of the month and the day of the week are both restricted: a day that either one
// names then matches, which few people mean.
func (s Schedule) BothDaysRestricted() bool {
	return s.grid.minutes != 0 && !s.grid.anyDay && !s.grid.anyWeek
}

// EveryHour reports whether no hour of the day is left out. Such a schedule keeps its pace over a change of the clocks by whole
// hours, although single wall-clock times are skipped or repeated.
func (s Schedule) EveryHour() bool { return s.grid.hours == allHours }
