package localcloud_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestBadConfigurationIsRefused(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		cfg  localcloud.Config
		want string
	}{
		"listen without a port": {
			localcloud.Config{Listen: "127.0.0.1"},
			`listen address "127.0.0.1" is not of the form HOST:PORT: write it like 127.0.0.1:8795`,
		},
		"listen beyond loopback": {
			localcloud.Config{Listen: ":0"},
			`listen address ":0" is not a loopback address, and the local cloud asks nobody for credentials: ` +
				"use 127.0.0.1, or allow remote clients explicitly",
		},
		"settle":         {localcloud.Config{Settle: -1}, "settle is -1ns: it must not be negative"},
		"grace":          {localcloud.Config{Grace: -time.Second}, "grace is -1s: it must not be negative"},
		"mutation time":  {localcloud.Config{MutationTime: -1}, "mutation time is -1ns: it must not be negative"},
		"operation time": {localcloud.Config{OperationTime: -1}, "operation time is -1ns: it must not be negative"},
		"history":        {localcloud.Config{History: -1}, "history is -1: it must not be negative"},
		"App Engine": {
			localcloud.Config{AppEngine: "ftp://127.0.0.1"},
			`the App Engine address "ftp://127.0.0.1" is no http or https URL: write it like http://127.0.0.1:8080`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cloud, err := localcloud.Start(t.Context(), tc.cfg)
			if err == nil {
				_ = cloud.Close()

				t.Fatal("it started")
			}

			if err.Error() != tc.want {
				t.Errorf("error\n  %v\nwant\n  %s", err, tc.want)
			}
		})
	}
}

func TestAPortInUseIsToldApart(t *testing.T) {
	t.Parallel()

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	cloud, err := localcloud.Start(t.Context(), localcloud.Config{Listen: taken.Addr().String()})
	if err == nil {
		_ = cloud.Close()
	}

	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error is %v", err)
	}
}

func TestRemoteClientsAreLetInOnRequest(t *testing.T) {
	t.Parallel()

	cloud := start(t, localcloud.Config{Listen: "0.0.0.0:0", AllowRemote: true})
	if !strings.HasPrefix(cloud.URL(), "http://127.0.0.1:") {
		t.Errorf("the URL is %s", cloud.URL())
	}

	header := map[string][]string{"Host": {"laptop.example"}}
	if code, got := call(t, cloud, "GET", "/local/clock", "", header); code != 200 {
		t.Errorf("%d %v", code, got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), History: 8})
	create(t, cloud, httpJob(tg.url))
	advance(t, cloud, 100*time.Minute)

	got := cloud.Deliveries("")
	if len(got) > 8 || len(got) < 5 || got[len(got)-1].Clock.Sub(noon()) != 100*time.Minute {
		t.Errorf("%d deliveries are remembered, the last of %s", len(got), got[len(got)-1].Clock)
	}
}
