package browser_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// TestScreenshots brings about the scene of the documentation's pictures, and takes them again where IDEMPOTENT_SCREENSHOTS names a
// folder.
func TestScreenshots(t *testing.T) {
	t.Parallel()

	s := newScene(t)
	s.create(t, "billing-sync", "cleanup", "digest", "nightly-report")
	b := open(t, s.cloud.URL())
	b.evaluate(`{ const span = document.getElementById('span'); span.value = '60'; span.dispatchEvent(new Event('change')) }`)

	folder := os.Getenv("IDEMPOTENT_SCREENSHOTS")
	if folder != "" {
		s.past(t)
	}

	s.inject(t, localcloud.Fault{Job: "nightly-report", Kind: localcloud.LostReply})
	s.inject(t, localcloud.Fault{Job: "digest", Kind: localcloud.Duplicate, Count: 3})
	s.dying.Store(1)

	for _, job := range []string{"billing-sync", "digest", "nightly-report"} {
		s.fire(t, job)
	}

	s.ended(t, "billing-sync", 2)
	b.click(row("cleanup") + `[data-action="run"]`)
	s.ended(t, "billing-sync", 3)
	s.fire(t, "cleanup")
	s.ended(t, "cleanup", 2)
	s.inject(t, localcloud.Fault{Job: "nightly-report", Kind: localcloud.Delay, Delay: 40 * time.Second})
	s.fire(t, "nightly-report")
	b.until(`document.querySelector('.lane .takeover') && document.querySelector('.lane.forced .executed') && document.querySelector('.lane .flying')`)

	if folder == "" {
		return
	}

	s.inject(t, localcloud.Fault{Job: "cleanup", Kind: localcloud.Status, Status: 502, Times: 2})
	b.do(chromedp.Sleep(6*time.Second), chromedp.EmulateViewport(1360, 900, chromedp.EmulateScale(1.5)))

	for _, picture := range []struct{ name, prepare string }{
		{"dev-light", `document.documentElement.dataset.theme = 'light'`},
		{"dev-dark", `document.documentElement.dataset.theme = 'dark'; document.querySelector('.lane .takeover').click()`},
	} {
		b.evaluate(picture.prepare)
		b.do(chromedp.Sleep(time.Second))

		data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, picture.name+".png"), data, 0o644)
		}

		if err != nil {
			t.Fatal(err)
		}
	}
}

// past gives the pictures something to show left of the scene.
func (s *scene) past(t *testing.T) {
	t.Helper()

	for i := range 4 {
		for n, job := range []string{"cleanup", "digest", "nightly-report"} {
			if (i+n)%3 > 0 {
				s.inject(t, localcloud.Fault{Job: job, Kind: localcloud.Delay, Delay: time.Duration(1+i) * time.Second})
				s.fire(t, job)
			}
		}

		time.Sleep(7 * time.Second)
	}
}
