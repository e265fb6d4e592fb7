package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func row(job string) string { return `.row[data-job="` + job + `"] ` }

func TestALostReplyIsShownWithItsDuplicate(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "nightly-report")
	b := open(t, s.cloud.URL())

	// The fault is injected in the dialog, and the pending fault is seen.
	b.click(row("nightly-report") + `[data-action="inject"]`)
	b.do(chromedp.WaitVisible(css("#inject")), chromedp.SetValue(css(`#inject [name="kind"]`), "lost_reply"))
	b.click("#inject .primary")
	b.do(chromedp.WaitVisible(css("#pending .chip")))
	b.shows("#pending", "reply lost, nightly-report, 1×")

	s.fire(t, "nightly-report")
	b.until(`document.querySelector('.lane.scheduled .delivery.executed') && document.querySelector('.lane.scheduled .delivery.duplicate')`)
	b.until(`document.querySelector('#runs').textContent.includes('duplicate not run')`)
	b.shows("#runs", "Reply lost; executed once; one duplicate not run")

	b.click(row("nightly-report") + ".delivery.executed")
	b.do(chromedp.WaitVisible(css("#details")))
	b.shows("#details",
		"Fault injected: the reply was lost. The target answered 200 executed, and the scheduler never heard it.",
		"the connection broke before the answer arrived", "X-CloudScheduler-JobName nightly-report", "Authorization (not shown)",
		"Idempotent-Run executed", "status completed", "attempt 1")

	// The keyboard closes the details, leads to the next delivery and opens that.
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible(css("#details")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(css("#details")))
	b.shows("#details", "Delivery 2", "200 duplicate", "counts it as success")

	if n := s.effects.Load(); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestATakeoverIsShownWithTheLeaseThatRanOut(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "billing-sync")
	s.dying.Store(1)
	b := open(t, s.cloud.URL())
	s.fire(t, "billing-sync")
	b.until(`document.querySelector('.lane .delivery.executed.takeover') && document.querySelectorAll('.lane .lease').length === 2`)
	holds(t, b.attribute(".lane .lease.open", "title"), "lease until ")
	holds(t, b.attribute(".lane .takeover", "aria-label"), "of the scheduled run for ", "200 executed", "takeover")
	b.shows("#runs", "Taken over from a dead attempt; told to wait ", "executed once")

	b.click(".lane .takeover")
	b.do(chromedp.WaitVisible(css("#details")))
	b.shows("#details", "Took the run over: the lease of the attempt before had run out.", "status completed", "attempt 2")
}

func TestAForcedRunIsShownBesideTheScheduledOne(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "cleanup")
	b := open(t, s.cloud.URL())
	s.fire(t, "cleanup")
	b.click(row("cleanup") + `[data-action="run"]`)
	b.until(`document.querySelector('.lane.scheduled .delivery.executed') && document.querySelector('.lane.forced .delivery.executed')`)
	b.until(`document.querySelectorAll('#runs .executed').length === 2`)
	b.shows("#runs", "forced ahead of ", "scheduled ")

	if n := s.effects.Load(); n != 2 {
		t.Errorf("%d effects", n)
	}

	// Pause, and the row says so; resume, and it runs again.
	b.click(row("cleanup") + `[data-action="pause"]`)
	b.until(`document.querySelector('.row .state.paused') && document.querySelector('[data-action="pause"]').textContent === 'Resume'`)
	b.click(row("cleanup") + `[data-action="pause"]`)
	b.until(`document.querySelector('.row .state.enabled')`)

	// A day passes at the push of a button, and the scheduled run of the night with it.
	b.click(`#advance [data-by="24h"]`)
	b.until(`document.getElementById('clock-kind').textContent === 'runs ahead of real time' && document.querySelectorAll('#runs tr').length === 3`)

	if n := s.effects.Load(); n != 3 {
		t.Errorf("%d effects after a day", n)
	}

	// A run of the day before is out of sight until it is chosen.
	b.until(`document.querySelectorAll('.lane .delivery').length === 0`)
	b.click("#runs tr:last-child .delivery")
	b.until(`document.querySelectorAll('.lane .delivery').length === 2 && document.getElementById('follow').ariaPressed === 'false'`)
}

func TestFaultsByChanceAreAskedForShownAndCleared(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "digest")
	b := open(t, s.cloud.URL())
	b.click("#inject-any")
	b.do(chromedp.WaitVisible(css("#inject")))
	b.evaluate(`{ const kind = document.querySelector('#inject [name="kind"]'); kind.value = 'random'; kind.dispatchEvent(new Event('change')) }`)
	b.do(chromedp.SetValue(css(`#inject [name="rate"]`), "100"), chromedp.SetValue(css(`#inject [name="seed"]`), "7"))
	b.click("#inject .primary")
	b.until(`document.querySelector('#pending').textContent.includes('faults by chance: 100 %, seed 7')`)
	s.fire(t, "digest")
	b.until(`document.querySelector('.lane .delivery .dot')`)
	b.click(`#pending [data-action="clear"]`)
	b.until(`document.querySelector('#pending').hidden`)
}

func TestThePageSaysWhatTheCloudRefusesAndThatItIsGone(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "cleanup", "digest")
	s.inject(t, localcloud.Fault{Job: "digest", Kind: localcloud.Duplicate, Count: 3})
	b := open(t, s.cloud.URL())
	s.fire(t, "digest")
	b.until(`document.querySelectorAll('.lane .delivery.copy').length === 2`)
	s.ended(t, "digest", 3)

	b.do(chromedp.SendKeys(css("#filter"), "CLEAN"))
	b.until(`document.querySelectorAll('.row').length === 1 && document.querySelector('#no-runs').hidden === false`)

	b.evaluate(`document.querySelector('#advance-by').value = '999999999h'; document.querySelector('#advance').requestSubmit()`)
	b.do(chromedp.WaitVisible(css("#message")))
	b.shows("#message", "is no duration")

	if err := s.cloud.Close(); err != nil {
		t.Errorf("close: %v", err)
	}

	b.until(`document.querySelector('.link.lost')`)
}
