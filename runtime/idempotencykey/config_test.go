package idempotencykey_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func oneTenant(*http.Request) (string, error) { return "acme", nil }

// limited is a store with other capabilities.
type limited struct {
	claim.Store

	caps claim.Caps
}

func (s limited) Caps() claim.Caps { return s.caps }

func TestAConfigurationThatCannotBeHonouredIsRefused(t *testing.T) {
	t.Parallel()
	store := memclaim.New()
	redis := limited{store, claim.Caps{Store: "redis", MaxResult: 1 << 20}}
	for want, change := range map[string]func(*idempotencykey.Config){
		"Store is missing":                         func(c *idempotencykey.Config) { c.Store = nil },
		"Scope is missing":                         func(c *idempotencykey.Config) { c.Scope = nil },
		"redis may forget keys when it fails over": func(c *idempotencykey.Config) { c.Store = redis },
		"keeps no results":                         func(c *idempotencykey.Config) { c.Store = limited{store, claim.Caps{SurvivesFailover: true}} },
		"must not be negative":                     func(c *idempotencykey.Config) { c.Window = -1 },
		"set at least 1m10s":                       func(c *idempotencykey.Config) { c.Lease = time.Minute },
		"set at least 15s":                         func(c *idempotencykey.Config) { c.Lease, c.Renew = time.Second, true },
		"MaxResponse: 1048577 bytes":               func(c *idempotencykey.Config) { c.MaxResponse = 1<<20 + 1 },
		"500 is not a client error":                func(c *idempotencykey.Config) { c.Keep = map[int]bool{500: true} },
		"set-cookie belongs to one answer":         func(c *idempotencykey.Config) { c.KeepHeaders = []string{"set-cookie"} },
		"Date belongs to one answer":               func(c *idempotencykey.Config) { c.KeepHeaders = []string{"Date"} },
		"transfer-encoding belongs to one answer":  func(c *idempotencykey.Config) { c.KeepHeaders = []string{"transfer-encoding"} },
		`there is no code "E01001"`: func(c *idempotencykey.Config) {
			c.Problems = map[idempotencykey.Code]idempotencykey.Problem{"E01001": {}}
		},
		"reused has status 200, which is no error": func(c *idempotencykey.Config) {
			c.Problems = map[idempotencykey.Code]idempotencykey.Problem{"reused": {Status: 200}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			cfg := idempotencykey.Config{Store: store, Scope: oneTenant}
			change(&cfg)
			if _, err := idempotencykey.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
}

func TestAStoreThatForgetsIsAcceptedByOption(t *testing.T) {
	forgetful := func(c *idempotencykey.Config) {
		c.Store = limited{c.Store, claim.Caps{Store: "redis", MaxResult: 1 << 20}}
		c.AcceptFailoverLoss = true
	}
	inBubble(t, forgetful, func(f *fixture) {
		f.want(request(), 201, "")
		f.want(request(), 201, "")
		f.wantCalls(1)
		f.die(request())
		time.Sleep(90 * time.Second)
		f.want(request(), 409, "unknown")
	})
}

func TestRoutesOfOneGuardDifferByTheirOptions(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		strict, err := f.guard.With(func(c *idempotencykey.Config) { c.RequireKey, c.Timeout = true, time.Hour })
		if err != nil {
			t.Fatal(err)
		}
		loose := f.guard
		f.want(request(), 201, "")
		f.guard = strict
		f.want(request(withoutKey), 400, "key_missing")
		f.want(request(), 201, "")
		f.wantCalls(1)
		f.guard = loose
		f.want(request(withoutKey), 201, "")
		if _, err := f.guard.With(func(c *idempotencykey.Config) { c.Scope = nil }); err == nil {
			t.Error("a route without a scope is accepted")
		}
	})
}
