package scheduledjob

import (
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func TestFarScheduleIsMonthsAwayOnAnyDay(t *testing.T) {
	t.Parallel()
	for day := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 1) {
		schedule, err := unixcron.Parse(farSchedule(day))
		if err != nil {
			t.Fatalf("%s: %v", day, err)
		}
		if next := schedule.Next(day, time.UTC); next.Sub(day) < 300*24*time.Hour {
			t.Errorf("%s: next is %s", day, next)
		}
	}
}
