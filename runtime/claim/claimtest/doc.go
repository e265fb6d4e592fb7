// Package claimtest tests a work, or a whole handler, as its deliveries come at their worst: many of one run at once, again after a
// reply was lost, and again after the process died in the middle. Claims are in memory, and time that a lease takes does not pass:
// the store's clock is moved.
//
//	func TestNightlyReportRunsOnce(t *testing.T) {
//		var mails atomic.Int32
//		d := claimtest.Work(t, claimtest.Run("nightly-report"), func(ctx context.Context, r run.Run) error {
//			mails.Add(1)
//			return nil
//		})
//
//		d.WantOnce(d.Concurrently(10)...) // one executed, the others told so
//		d.WantOnce(d.Deliver())           // a lost reply: delivered again, a duplicate
//
//		if mails.Load() != 1 {
//			t.Errorf("%d mails, want 1", mails.Load())
//		}
//	}
//
// [Deliveries.Crash] lets the process die after the work has run and before that is recorded: the moment in which an effect outside
// the store can happen twice, which a work has to be ready for. [Handler] does all that to an http.Handler.
package claimtest
