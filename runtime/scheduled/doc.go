// Package scheduled answers the deliveries of Cloud Scheduler so that one run has one effect.
//
// A [Handler] finds out who is calling, reads which run the delivery is for, claims that run in the store, and does the work only if
// it won the claim. What became of the delivery is told by the status, by the header Idempotent-Run and in a short JSON body:
//
//	200 executed     the work was done
//	200 duplicate    it had been done before
//	200 rejected     a forced run, which the policy does not execute
//	409 in_progress  another attempt is at it; Retry-After says when its lease ends
//	409 lost         the claim was lost before the work ended
//	422 failed       the work failed for good, or too often
//	422 unknown      at most once, and nobody knows whether the work was done
//	500 released     the work failed and may be tried again
//	500 unrecorded   the work was done, and the store could not be told
//	500              nothing was run: store out of reach, shutting down, or a policy that cannot be honoured
//	400 401 403 404  nothing was run: the request is not one that this handler serves
//
// It never answers 503, which App Engine would retry for ever.
//
//	handler, err := scheduled.NewHandler(scheduled.Config{
//		Jobs:   map[string]scheduled.Work{"nightly-report": nightly},
//		Store:  store,
//		Caller: checker,
//	})
//
// [FromEnv] reads the configuration that the Terraform provider hands out, and [Serve] listens and shuts down as the platforms
// expect it.
package scheduled
