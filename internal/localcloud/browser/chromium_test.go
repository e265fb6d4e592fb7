package browser_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

type css = chromedp.CSS

// browser is a tab that shows the page.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it
}

// shared is the one browser of this test process; each test has a window and a profile of its own in it.
var shared struct {
	once   sync.Once
	ctx    context.Context //nolint:containedctx // chromedp keeps the browser in it
	cancel context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	status := engines.Main(m)

	if shared.cancel != nil {
		shared.cancel()
	}

	os.Exit(status)
}

// launch starts the browser.
func launch(path string) {
	// The browser writes into its profile until it has ended, and the allocator waits for that before it removes the folder.
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1360, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)

	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	shared.ctx, shared.err = ctx, chromedp.Do(ctx) //nolint:fatcontext // one browser for all tests
	shared.cancel = func() {
		_ = chromedp.Cancel(ctx)

		cancel()
	}
}

// open shows a page in a window of its own. What the page throws or logs as an error, but for a connection that is gone, fails the
// test.
func open(t *testing.T, url string) *browser {
	t.Helper()

	path := engines.Chromium(t)

	shared.once.Do(func() { launch(path) })

	if shared.err != nil {
		t.Fatal(shared.err)
	}

	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)

	messages := chromedp.Console(ctx)
	read := make(chan struct{})

	go func() {
		defer close(read)

		for message, err := range messages {
			if err != nil {
				return
			}

			if message.IsException() || (message.Type == "error" && message.Source != "network") {
				t.Errorf("the page says: %s", message)
			}
		}
	}()

	// Registered last, so that it ends before the browser does.
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		<-read
	})

	b := &browser{t: t, ctx: ctx}
	b.do(chromedp.Navigate(url))
	b.until(`document.querySelector('.link.live')`)

	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()

	err := chromedp.Do(b.ctx, steps...)
	if err != nil {
		b.t.Fatal(err)
	}
}

// patience is with a page on a machine that is busy with other things.
const patience = time.Minute

// until waits until a JavaScript expression is true. The page's own rules forbid it to evaluate text, so the browser does.
func (b *browser) until(expression string) {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()

	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](
		`new Promise((resolve) => { const look = () => { if (`+expression+`) resolve(true); else setTimeout(look, 30); }; look(); })`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		shown, _ := chromedp.Run(b.ctx, chromedp.Text(css("main")))
		b.t.Fatalf("%s: %v; the page shows\n%s", expression, err, shown)
	}
}

func (b *browser) evaluate(expression string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](expression))
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(css(selector)))
}

func (b *browser) attribute(selector, name string) string {
	b.t.Helper()

	out, err := chromedp.Run(b.ctx, chromedp.AttributeValue(css(selector), name))
	if err != nil {
		b.t.Fatal(err)
	}

	return out.Value
}

// shows checks what an element shows.
func (b *browser) shows(selector string, wanted ...string) {
	b.t.Helper()

	out, err := chromedp.Run(b.ctx, chromedp.Text(css(selector)))
	if err != nil {
		b.t.Fatal(err)
	}

	holds(b.t, strings.Join(strings.Fields(out), " "), wanted...)
}

func holds(t *testing.T, shown string, wanted ...string) {
	t.Helper()

	for _, want := range wanted {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown in: %s", want, shown)
		}
	}
}
