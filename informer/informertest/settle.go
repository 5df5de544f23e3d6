package informertest

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// deliverer is an informer of this module, of either API.
type deliverer interface {
	WaitDelivered(ctx context.Context, version string) error
}

// Settle waits until informers hold all writes to the server so far, and have delivered them to
// each of their handlers. A test calls it after a write, instead of sleeping, and then checks the
// outcome. The informers must be of this module and run on this server: an *informer.Informer[T],
// or its cache.SharedIndexInformer, also from client-go's accessors; any other value is an
// error. Writes made by handlers need another call.
//
// Bookmarks tell informers without changes that there is nothing to wait for. While a fault keeps
// the informers from the server, Settle waits; it returns the reason when ctx ends.
func (s *Server) Settle(ctx context.Context, informers ...any) error {
	version := s.settle()
	defer s.settled()
	for _, i := range informers {
		d, ok := delivererOf(i)
		if !ok {
			return fmt.Errorf("%w: %T", errInformer, i)
		}
		if err := d.WaitDelivered(ctx, version); err != nil {
			return err
		}
	}
	return nil
}

// delivererOf returns the informer of this module behind a value.
func delivererOf(i any) (d deliverer, ok bool) {
	if shared, is := i.(cache.SharedIndexInformer); is {
		return informer.SharedOf(shared)
	}
	d, ok = i.(deliverer)
	return d, ok
}

// settle returns the version of the last write, and makes watches learn of it: the open ones and,
// until settled is called, those opened later.
func (s *Server) settle() (version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settling++
	s.bookmarkLocked()
	return format(s.model.version)
}

func (s *Server) settled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settling--
}
