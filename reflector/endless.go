package reflector

import (
	"fmt"
	"math/bits"
)

const (
	// maxObjects bounds the objects of a list. Fewer fit into an etcd of 8 GB, the largest
	// supported size.
	maxObjects = 1 << 24
	// maxEmptyPages bounds the empty pages in a row. A server that filters each page may send some.
	maxEmptyPages = 10_000
)

// pager follows the pages of a list and makes sure that the list ends.
type pager struct {
	pages, empty, objects int
	// mark is the token of the page whose number is the last power of two. If tokens repeat, with
	// any period, mark appears again.
	mark string
}

// follow records a page with its number of items and the token of the next page. It returns
// [ErrEndless] if the list does not seem to end.
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
		return fmt.Errorf("%w: the continue token of page %d has occurred before", ErrEndless, p.pages)
	}
	if bits.OnesCount(uint(p.pages)) == 1 { //nolint:gosec // never negative
		p.mark = token
	}
	return nil
}

// bound returns [ErrEndless] if the page of a token, which is still arriving, already has too many
// items. The first page has no token.
func (p *pager) bound(token string, items int) error {
	if token != "" {
		items += p.objects
	}
	if items > maxObjects {
		return fmt.Errorf("%w: %d objects", ErrEndless, items)
	}
	return nil
}
