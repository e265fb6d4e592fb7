package idempotencykey

import (
	"bytes"
	"io"
)

// newBody is a body that was read before.
func newBody(b []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(b)) }
