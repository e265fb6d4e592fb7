package idempotencykey

import (
	"context"
	"fmt"
	"net/textproto"
	"strings"
)

// SetMailHeader sets the key of ctx, or a new one, in the header of a message that is sent by SMTP, for providers which know a repeat
// by it. Name is the provider's, such as X-Bird-Idempotency-Key. Header can be a mail.Header, textproto.MIMEHeader or the like. It
// returns the key. A message that is sent again must be sent with the header it has, or with a stable key.
func SetMailHeader(ctx context.Context, header map[string][]string, name string) (string, error) {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || c == ':' }) {
		return "", fmt.Errorf("mail header name %q: use printable ASCII without spaces and colons", name)
	}
	key, err := keyFromContext(ctx)
	if err != nil {
		return "", err
	}
	if key == "" {
		key = NewKey()
	}
	header[textproto.CanonicalMIMEHeaderKey(name)] = []string{key}
	return key, nil
}
