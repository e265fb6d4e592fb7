package loopback_test

import (
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

func TestThisMachineIsLocalhostAndLoopbackAddresses(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]struct{ host, name bool }{
		"localhost":        {true, true},
		"127.0.0.1":        {true, true},
		"127.8.9.10":       {true, true},
		"::1":              {true, true},
		"::ffff:127.0.0.1": {true, true},

		"LocalHost":     {false, true},
		"localhost.":    {false, true},
		"api.localhost": {false, true},
		"a.LOCALHOST.":  {false, true},

		"":                      {},
		"0.0.0.0":               {},
		"::":                    {},
		"10.0.0.1":              {},
		"128.0.0.1":             {},
		"::2":                   {},
		"::ffff:10.0.0.1":       {},
		"::1%eth0":              {},
		"127.0.0.1.example.com": {},
		"localhost.example.com": {},
		"notlocalhost":          {},
		"127.1":                 {},
		"0x7f.1":                {},
		"[::1]":                 {},
		"127.0.0.1:80":          {},
	} {
		if got := loopback.Host(host); got != want.host {
			t.Errorf("Host(%q): got %v, want %v", host, got, want.host)
		}
		if got := loopback.Name(host); got != want.name {
			t.Errorf("Name(%q): got %v, want %v", host, got, want.name)
		}
	}
}
