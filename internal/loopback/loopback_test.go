package loopback_test

import (
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

func TestThisMachineIsLocalhostAndLoopbackAddresses(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.9.10": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "128.0.0.1": false, "::2": false, "::ffff:10.0.0.1": false,
		"127.0.0.1.example.com": false, "localhost.example.com": false, "api.localhost": false, "127.1": false, "0x7f.1": false,
		"[::1]": false, "127.0.0.1:80": false, "localhost.": false,
	} {
		if got := loopback.Host(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
}
