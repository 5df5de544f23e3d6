package reflector

import (
	"fmt"
	"math/bits"
)

const (
	// maxObjects is the most objects that one list may bring: more than an etcd
	// of 8 GB, the largest that is supported, has room for.
	maxObjects = 1 << 24
	// maxEmptyPages is the most pages in a row that may bring nothing: those
	// of a server that filters what it has read, page by page.
	maxEmptyPages = 10_000
)

// pager watches over the pages of one list, so that the list has an end.
type pager struct {
	pages, empty, objects int
	// mark is the token of the page whose number is the last power of two. A
	// server whose tokens go round in a circle, of whatever size, meets it again.
	mark string
}

// follow takes note of a page: how many items it has, and the token of the
// next one. It returns [ErrEndless] where the list shows no sign of an end.
func (p *pager) follow(items int, token string) error {
	p.pages++
	p.objects += items
	p.empty++
	if items > 0 {
		p.empty = 0
	}
	switch {
	case p.objects > maxObjects:
		return fmt.Errorf("%w: %d objects", ErrEndless, p.objects)
	case p.empty > maxEmptyPages:
		return fmt.Errorf("%w: %d pages in a row without an object", ErrEndless, p.empty)
	case token != "" && token == p.mark:
		return fmt.Errorf("%w: the continue token of page %d came before", ErrEndless, p.pages)
	}
	if bits.OnesCount(uint(p.pages)) == 1 { //nolint:gosec // never negative
		p.mark = token
	}
	return nil
}
