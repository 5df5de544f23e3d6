package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// look is a window size and a color scheme.
type look struct {
	name          string
	width, height int // the size of the picture; a longer page is cut off
	dark          bool
}

var (
	looks    = []look{{"light", 1120, 1400, false}, {"dark", 1120, 1400, true}, {"phone", 390, 1400, false}}
	inReadme = look{"readme", 1000, 760, false}
)

// shoot takes a picture of the overview and of each informer in each look.
func shoot(b *browser, seen []shownInformer, url, to string, out io.Writer) error {
	pages := map[string]string{"overview": url}
	for _, i := range seen {
		pages[strings.ReplaceAll(i.State, " ", "-")] = url + "?informer=" + i.ID
	}
	for _, l := range looks {
		for name, at := range pages {
			if err := b.write(at, l, filepath.Join(to, name+"-"+l.name+".png"), out); err != nil {
				return err
			}
		}
	}
	if err := b.write(url, inReadme, filepath.Join(to, "readme.png"), out); err != nil {
		return err
	}
	return b.renews(url)
}

// write takes a picture of a page and writes it to a file.
func (b *browser) write(url string, l look, file string, out io.Writer) error {
	picture, err := b.picture(url, l)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprintln(out, file)
	return os.WriteFile(file, picture, 0o644) //nolint:gosec // readable by everyone
}

// picture takes a picture of a page. It fails if the page is wider than the look, or if
// Chromium reports an error.
func (b *browser) picture(url string, l look) ([]byte, error) {
	if err := b.open(url, l); err != nil {
		return nil, err
	}
	wide, err := eval[bool](b, "document.documentElement.scrollWidth > innerWidth")
	if err != nil {
		return nil, err
	}
	if wide {
		return nil, fmt.Errorf("%w: wider than %d pixels", errPage, l.width)
	}
	if complaints := b.heard(); len(complaints) > 0 {
		return nil, fmt.Errorf("%w: Chromium reports: %s", errPage, complaints)
	}
	return b.screenshot(l.width, l.height)
}

// renews checks that the page refreshes, and keeps its scroll position and focus.
func (b *browser) renews(url string) error {
	if err := b.open(url, looks[0]); err != nil {
		return err
	}
	const state = `JSON.stringify([scrollY, document.activeElement.getAttribute("href")])`
	clock, err := eval[string](b, `scrollTo(0, 300); document.querySelectorAll("article a")[1].focus({preventScroll: true}); document.querySelector(".clock").textContent`)
	if err != nil {
		return err
	}
	before, err := eval[string](b, state)
	if err != nil {
		return err
	}
	now := clock
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if now, err = eval[string](b, `new Promise(r => setTimeout(() => r(document.querySelector(".clock").textContent), 500))`); err != nil {
			return err
		}
		if now == clock {
			continue
		}
		after, err := eval[string](b, state)
		if err != nil {
			return err
		}
		if before != after {
			return fmt.Errorf("%w: moved from %s to %s", errPage, before, after)
		}
		return nil
	}
	return fmt.Errorf("%w: does not refresh, but shows %q", errPage, now)
}
