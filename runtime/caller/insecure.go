package caller

import (
	"errors"
	"net/http"
	"os"
)

// InsecureConfig says whom [Insecure] lets in.
type InsecureConfig struct {
	// AllowAnyPeer lets in everybody who can reach the port. False: only peers on this machine.
	AllowAnyPeer bool
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
}

// Insecure returns a checker that checks no token. Its callers are never Verified, so what the headers say about policy, project and
// region does not count: set the handler's own. Without AllowAnyPeer a request that a proxy on this machine passes on for somebody
// else is refused too, and on Cloud Run and App Engine, where all requests come that way, it is an error.
func Insecure(cfg InsecureConfig) (Checker, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	if !cfg.AllowAnyPeer && (cfg.Getenv("K_SERVICE") != "" || cfg.Getenv("GAE_ENV") != "") {
		return nil, errors.New("callers cannot go unchecked on Cloud Run or App Engine, where no request comes from this machine: verify " +
			"tokens instead")
	}
	return insecure{anyPeer: cfg.AllowAnyPeer}, nil
}

type insecure struct{ anyPeer bool }

// Check looks at where the connection comes from.
func (i insecure) Check(r *http.Request) (Caller, error) {
	if i.anyPeer || Loopback(r) {
		return Caller{}, nil
	}
	return Caller{}, &Error{
		Status: http.StatusForbidden, Reason: "the request does not come from this machine and tokens are not verified",
		Remedy: "set IDEMPOTENT_CALLER to verify, with IDEMPOTENT_AUDIENCES and IDEMPOTENT_CALLERS",
	}
}

// Loopback says whether a request was sent from this machine: its peer is a loopback address, and no proxy says that it passes the
// request on for another.
func Loopback(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if len(r.Header.Values(header)) > 0 {
			return false
		}
	}
	return loopbackPeer(r)
}
