package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	chromelog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a Chromium with one tab.
type browser struct {
	tab context.Context

	mu         sync.Mutex
	complaints []string // errors since the page was opened
}

// newBrowser starts Chromium with its own profile in a folder. closed ends it.
func newBrowser(ctx context.Context, dir string) (b *browser, closed func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.UserDataDir(filepath.Join(dir, "profile")))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox does not work for root, and only our own page is opened
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(ctx)
	closed = func() { closeTab(); end(); cancel() }
	b = &browser{tab: tab}
	err = chromedp.Listen(tab, b.listen)
	if err == nil {
		_, err = chromedp.Call(tab, chromelog.Enable, cdp.Empty{})
	}
	if err != nil {
		closed()
		return nil, nil, err
	}
	return b, closed, nil
}

// listen records the errors of the page.
func (b *browser) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *chromelog.EventEntryAdded:
		complaint = e.Entry.Text + " " + e.Entry.URL
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
	}
	if complaint == "" || strings.Contains(complaint, "favicon") { // the page has no favicon
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint)
}

// heard returns the page's errors since it was opened.
func (b *browser) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.complaints
}

// open shows a page.
func (b *browser) open(url string, l look) error {
	b.mu.Lock()
	b.complaints = nil
	b.mu.Unlock()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	viewport := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
	if l.width < 600 {
		viewport = append(viewport, chromedp.EmulateMobile)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.tab, emulation.SetEmulatedMedia, media); err != nil {
		return err
	}
	_, err := chromedp.Run(b.tab, chromedp.Steps(chromedp.EmulateViewport(int64(l.width), 800, viewport...), chromedp.Navigate(url)))
	return err
}

// eval returns the value of an expression. It awaits a promise.
func eval[T any](b *browser, expression string) (T, error) {
	return chromedp.Run(b.tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// screenshot returns a PNG picture of the top of the page, at most most pixels high.
func (b *browser) screenshot(width, most int) ([]byte, error) {
	height, err := eval[int](b, "Math.ceil(document.documentElement.getBoundingClientRect().height)")
	if err != nil {
		return nil, err
	}
	picture, err := chromedp.Call(b.tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: new(true),
		Clip:                  &page.Viewport{Width: float64(width), Height: float64(min(height, most)), Scale: 1},
	})
	return picture.Data, err
}
