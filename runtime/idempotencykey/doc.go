// Package idempotencykey gives each request of an API that carries an Idempotency-Key one effect, however often it is sent, and
// gives clients a transport that sends such requests safely.
//
// # The server
//
// [New] makes a middleware over any claim store. It guards POST, PATCH, PUT and DELETE requests that carry a key: the first one
// claims the key for its tenant and runs the handler; what the handler answered is stored with the completion of the claim and only
// then sent; the same request under the same key gets that very answer again. Another request under a used key is refused, as is a
// repeat while the first one runs.
//
//	guard, err := idempotencykey.New(idempotencykey.Config{
//		Store: store,
//		Scope: func(r *http.Request) (string, error) { return workspaceOf(r) },
//	})
//	mux.Handle("POST /payments", guard.Handler(payments))
//
// What the record protects: the handler is not run twice for one key while the record is kept, unless it gave the key back itself
// (an answer of 5xx, a panic) or the route allows it. What it does not protect: an effect outside the store whose process died
// between the effect and the completion. Such a key becomes "unknown" and is never run again by itself; somebody has to look. A
// handler that writes to the database of the claims closes that gap with [CompleteTx]: effect, completion and answer are committed
// together.
//
// # The client
//
// [Transport] adds a key to each mutating request, keeps key and body the same over its own retries, and says with
// [*OutcomeUnknown] when it cannot tell what became of an operation.
//
// The format of keys follows draft-ietf-httpapi-idempotency-key-header, errors are problems in the sense of RFC 9457.
package idempotencykey
