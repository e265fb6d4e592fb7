// Package googleapi is what the clients of forward share: where their servers are, and what the errors of a start mean.
package googleapi

import (
	"fmt"
	"net"
	"net/url"
	"slices"

	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
)

// Options returns the client options for a server: none for the empty text, Google's own. A loopback server is spoken to in clear
// text and without credentials, which no other is.
func Options(endpoint string) ([]option.ClientOption, error) {
	if endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("%s is no address of a server: write it like https://HOST or http://127.0.0.1:PORT", forward.EnvEndpoint)
	}
	switch {
	case u.Scheme == "http" && loopback.Host(u.Hostname()):
		return []option.ClientOption{
			option.WithEndpoint(u.Host), option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		}, nil
	case u.Scheme == "https":
		host := u.Host
		if u.Port() == "" {
			host = net.JoinHostPort(u.Hostname(), "443")
		}
		return []option.ClientOption{option.WithEndpoint(host)}, nil
	default:
		return nil, fmt.Errorf("%s names a server that is neither https nor on this machine: write it like https://HOST", forward.EnvEndpoint)
	}
}

// refusals are the codes with which a server answers before it has done anything. Of all others the outcome is open, whatever they
// say: they may come from something between client and server.
func refusals() []codes.Code {
	return []codes.Code{
		codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition, codes.OutOfRange,
		codes.Unimplemented,
	}
}

// StartError marks the error of a start with which the server refused it.
func StartError(err error) error {
	if err != nil && slices.Contains(refusals(), status.Code(err)) {
		return forward.Refused(err)
	}
	return err
}

// MaxPages bounds a look-up.
const MaxPages = 50

// ErrTooMany is the error of a look-up that would have to read more than MaxPages.
func ErrTooMany(what string) error {
	return fmt.Errorf("there are more than %d pages of %s since the run was due: they cannot all be compared", MaxPages, what)
}
