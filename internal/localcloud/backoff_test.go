package localcloud

import (
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestBackoffDoublesThenGrowsByEqualStepsUpToTheCap(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		least, most time.Duration
		doublings   int32
		want        []time.Duration
	}{
		"the documented example": {10 * time.Second, 300 * time.Second, 3, []time.Duration{10, 20, 40, 80, 160, 240, 300, 300}},
		"defaults":               {5 * time.Second, time.Hour, 5, []time.Duration{5, 10, 20, 40, 80, 160, 320, 480, 640}},
		"no doublings":           {7 * time.Second, 20 * time.Second, 0, []time.Duration{7, 14, 20, 20}},
		"constant":               {9 * time.Second, 9 * time.Second, 16, []time.Duration{9, 9, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := &schedulerpb.RetryConfig{
				MinBackoffDuration: durationpb.New(tc.least), MaxBackoffDuration: durationpb.New(tc.most), MaxDoublings: tc.doublings,
			}

			var got []time.Duration
			for k := range tc.want {
				got = append(got, backoff(c, k)/time.Second)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("seconds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackoffStaysAtTheCapForEver(t *testing.T) {
	t.Parallel()

	c := &schedulerpb.RetryConfig{
		MinBackoffDuration: durationpb.New(time.Second), MaxBackoffDuration: durationpb.New(time.Hour), MaxDoublings: 16,
	}
	if got := backoff(c, 1_000_000); got != time.Hour {
		t.Errorf("the millionth wait is %s", got)
	}
}
