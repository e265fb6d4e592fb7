package unixcron_test

import "testing"

func TestDescribeSaysWhenTheScheduleFires(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]string{
		"* * * * *":               "every minute",
		"*/5 * * * *":             "every 5 minutes",
		"0-59/30 * * * *":         "every 30 minutes",
		"*/20 9-17 * * *":         "every 20 minutes of the hours from 9 to 17",
		"*/7 * * * *":             "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour",
		"0 * * * *":               "at minute 0 of every hour",
		"15 */2 * * *":            "at minute 15 of every 2nd hour",
		"15 */3 * * *":            "at minute 15 of every 3rd hour",
		"* 3 * * *":               "every minute of the hour 3",
		"0 3 * * *":               "at 03:00 every day",
		"0,30 8,20 * * *":         "at 08:00, 08:30, 20:00 and 20:30 every day",
		"0 3 * * MON-FRI":         "at 03:00 on every day of the week from Monday to Friday",
		"0 3 * * 1,4":             "at 03:00 on Monday and Thursday",
		"0 3 * * 7":               "at 03:00 on Sunday",
		"0 3 * * 5-7":             "at 03:00 on Sunday, Friday and Saturday",
		"0 0 1 * *":               "at 00:00 on day 1 of the month",
		"0 0 1,15 * *":            "at 00:00 on days 1 and 15 of the month",
		"0 0 10-20 * *":           "at 00:00 on days from 10 to 20 of the month",
		"0 0 29 2 *":              "at 00:00 on day 29 of February",
		"0 0 1 JAN,APR *":         "at 00:00 on day 1 of January and April",
		"0 0 * JUN-AUG *":         "at 00:00 every day in the months from June to August",
		"0 0 * 1 MON":             "at 00:00 on Monday in January",
		"0 0 13 * FRI":            "at 00:00 on day 13 of the month, and on Friday",
		"0 0 13 3 FRI":            "at 00:00 on day 13 of March, and on Friday in March",
		"*/5 * 1 * *":             "every 5 minutes on day 1 of the month",
		"*/5 * * 12 *":            "every 5 minutes every day in December",
		"0 0 1-31 * MON":          "at 00:00 every day",
		"0 0 1 * 0-6":             "at 00:00 every day",
		"0 0 1 * *,MON":           "at 00:00 on day 1 of the month",
		"0 9-17 * * MON-FRI":      "at minute 0 of the hours from 9 to 17 on every day of the week from Monday to Friday",
		"0 0 */2 * *":             "at 00:00 on every 2nd day from day 1 of the month",
		"10,20,30,40 1,3 2 1-3 *": "at minutes 10, 20, 30 and 40 of the hours 1 and 3 on day 2 of the months from January to March",
	} {
		if got := mustParse(t, expr).Describe(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", expr, got, want)
		}
	}
}
