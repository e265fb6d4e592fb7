package localcloud

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestSchedulesInEitherLanguageAreFollowed(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)

	for schedule, want := range map[string]time.Duration{
		"*/5 * * * *":     5 * time.Minute,
		"every day 13:30": 90 * time.Minute,
		"every 7 minutes": 7 * time.Minute,

		"1st,3rd friday 12:30":                30 * time.Minute,
		"every 7 minutes from 12:03 to 13:00": 3 * time.Minute,
	} {
		times, err := newTimetable(schedule, "Etc/UTC")
		if err != nil {
			t.Errorf("%s: %v", schedule, err)

			continue
		}

		if got := times.next(noon).Sub(noon); got != want {
			t.Errorf("%s: next after %s, want %s", schedule, got, want)
		}
	}

	for _, wrong := range []string{"every 7 bananas", "* * * *", "", "every"} {
		if _, err := newTimetable(wrong, "Etc/UTC"); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestStatusesBecomeCodes(t *testing.T) {
	t.Parallel()

	for answered, want := range map[int]codes.Code{
		200: codes.OK, 204: codes.OK, 299: codes.OK, 302: codes.Unknown, 400: codes.InvalidArgument, 401: codes.Unauthenticated,
		403: codes.PermissionDenied, 404: codes.NotFound, 409: codes.Aborted, 422: codes.Unknown, 429: codes.ResourceExhausted,
		500: codes.Internal, 501: codes.Unimplemented, 502: codes.Unavailable, 503: codes.Unavailable, 504: codes.DeadlineExceeded,
		599: codes.Internal,
	} {
		if got := codeOf(answered); got != want {
			t.Errorf("%d becomes %s, want %s", answered, got, want)
		}
	}
}
