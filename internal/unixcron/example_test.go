package unixcron_test

import (
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func ExampleParse() {
	_, err := unixcron.Parse("0 0 9 ? * mon-fri")
	fmt.Println(err)
	// Output:
	// unix-cron "0 0 9 ? * mon-fri": column 1: "0" is a sixth field, for seconds, which unix-cron does not have; write "0 9 * * MON-FRI"
}

func ExampleSchedule_Next() {
	schedule, err := unixcron.Parse("30 2 * * *")
	if err != nil {
		fmt.Println(err)

		return
	}

	berlin, err := unixcron.LoadLocation("Europe/Berlin")
	if err != nil {
		fmt.Println(err)

		return
	}

	// The clocks skip from 02:00 to 03:00 on 28 March 2027.
	fmt.Println(schedule.Describe())
	fmt.Println(schedule.Next(time.Date(2027, time.March, 27, 12, 0, 0, 0, berlin), berlin))
	// Output:
	// at 02:30 every day
	// 2027-03-29 02:30:00 +0200 CEST
}
