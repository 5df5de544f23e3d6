package informertest

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// deliverer is an informer of this module, with this module's API or client-go's.
type deliverer interface {
	WaitDelivered(ctx context.Context, version string) error
}

// Settle waits until informers have all writes that the server has accepted so far, and have delivered them
// to their handlers. Call it after a write, instead of sleeping, and then check the result. The informers
// must be of this module and read from this server: each is an *informer.Informer[T] or a
// cache.SharedIndexInformer, for example from an accessor of a factory. Any other value is an error. Writes
// that handlers make need another call.
//
// Settle sends bookmarks, so informers without changes need not wait. While a fault keeps the informers from
// the server, Settle waits. When ctx ends, the error has the reason.
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

// settle returns the version of the last write, and sends it to all watches as a bookmark. Watches that open
// before the call of settled also get a bookmark.
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
