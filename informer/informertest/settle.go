package informertest

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// deliverer is what an informer of this module can do, in either face.
type deliverer interface {
	WaitDelivered(ctx context.Context, version string) error
}

// Settle waits until informers hold everything that has been written to the
// server so far, and each of their handlers has been told of it: a test that
// has written something looks at what came of it after Settle, and need not
// sleep. The informers are of this module, *informer.Informer[T] or the
// cache.SharedIndexInformer that shows one, by way of client-go's accessors too, and run on this server; anything
// else is an [ErrInformer]. What handlers write in turn takes another call.
//
// To informers of what was not written to, it makes known by bookmarks that there
// is nothing to wait for. While a fault keeps the informers from the server, it
// waits, and returns why when ctx ends.
func (s *Server) Settle(ctx context.Context, informers ...any) error {
	version := s.settle()
	defer s.settled()
	for _, i := range informers {
		d, ok := delivererOf(i)
		if !ok {
			return fmt.Errorf("%w: %T", ErrInformer, i)
		}
		if err := d.WaitDelivered(ctx, version); err != nil {
			return err
		}
	}
	return nil
}

// delivererOf finds the informer of this module that is meant.
func delivererOf(i any) (d deliverer, ok bool) {
	if shared, is := i.(cache.SharedIndexInformer); is {
		return informer.SharedOf(shared)
	}
	d, ok = i.(deliverer)
	return d, ok
}

// settle returns the version of the last write, and sees to it that watches
// hear of it: those that are open, and, until settled, those that are opened.
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
