package informer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// sharing holds the values shared by the objects of an informer. With TIDEMARK_VERIFY=1 or
// client-go's mutation detector, it looks for shared values that somebody has written into.
type sharing struct {
	table         *share.Table // nil for none
	detectsWrites bool
	packed        bool
	broken        chan struct{} // closed when a shared value was found changed, or a packed object broken
	breaking      sync.Once
}

// distrust makes the informer read all objects anew, once: those stored are not to be trusted. It reports
// whether this is the first call.
func (s *sharing) distrust() (first bool) {
	s.breaking.Do(func() {
		s.table.Close()
		close(s.broken)
		first = true
	})
	return first
}

// newSharing returns what the objects of an informer share: nothing if they are packed.
func newSharing(d reflector.Decoding, as Storage) *sharing {
	s := &sharing{packed: as.packs(), broken: make(chan struct{})}
	if d.Unshared || s.packed {
		return s
	}
	s.table = share.New(d.ShareBytes)
	if s.detectsWrites = verify.On || detecting; s.detectsWrites {
		s.table.DetectWrites()
	}
	return s
}

// guardPeriod is the period of comparing shared values, the same as that of client-go's mutation
// detector.
const guardPeriod = time.Second

// guard looks for changed shared values until ctx ends. After the first one, no value is shared any
// more, and all objects are decoded afresh.
func (s *sharing) guard(ctx context.Context, tell func(error)) {
	tick := time.NewTicker(guardPeriod)
	defer tick.Stop()
	for !closed(s.broken) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changes := s.table.Changed()
		for _, c := range changes {
			tell(&SharedValueError{Field: c.Path, Objects: c.Objects})
		}
		if len(changes) > 0 {
			s.distrust()
		}
	}
}

// until returns a context that ends with ctx, or when the stored objects are not to be trusted any more.
func (s *sharing) until(ctx context.Context) (context.Context, context.CancelFunc) {
	run, end := context.WithCancel(ctx)
	if (s.detectsWrites || s.packed) && !closed(s.broken) {
		go func() {
			select {
			case <-s.broken:
				end()
			case <-run.Done():
			}
		}()
	}
	return run, end
}

// SharedValueError reports that a program has written into a cached object, which it must not. The
// value is shared by the named objects, and perhaps more, in their Field. The check runs only with
// TIDEMARK_VERIFY=1 and with client-go's mutation detector. The informer then decodes all objects
// anew, and shares no containers any more.
type SharedValueError struct {
	Field   string   // such as Container.env
	Objects []string // namespace/name of some
}

func (e *SharedValueError) Error() string {
	return fmt.Sprintf("a program has written into %s of cached objects, a value that is shared by %s", e.Field, strings.Join(e.Objects, ", "))
}
