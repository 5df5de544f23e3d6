package reflector

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Recaller is implemented by a [Sink] that can tell what it holds, so that a
// transport may leave that out of a stream (see [Wire]). Recall returns
// the object that is stored under a key, if it is what became of the server's
// object of this UID and version; neither is ever empty. It may be called from any
// goroutine, also after Run has returned, and must not block.
//
// What was left out is written to the sink all the same, in its place in the
// order, with the object recalled and [deltafifo.Delta].Recalled set.
type Recaller interface {
	Recall(key indexer.Key, uid, version string) (any, bool)
}

// omitter decides what is left out of a stream. The value of omitterKey in the
// context of a request is one.
type omitter interface {
	// omit tells whether an object is to be left out. In its place is sent a
	// bookmark that names it.
	omit(id) bool
}

type omitterKey struct{}

// recall puts back what a transport has left out of a stream: the transport
// asks omit, on its own goroutine, and the loop puts back in the same order.
type recall struct {
	sink Recaller

	mu      sync.Mutex
	omitted []deltafifo.Delta // not put back yet
	over    bool              // nothing more is left out
}

// recalling returns the context of a stream, which lets the transport leave out
// what the sink holds, if the sink can tell.
func (l *loop) recalling() context.Context {
	l.recall = nil
	sink, ok := l.sink.(Recaller)
	if !ok || l.machine.version == "" {
		return l.ctx
	}
	l.recall = &recall{sink: sink}
	return context.WithValue(l.ctx, omitterKey{}, l.recall)
}

func (r *recall) omit(o id) bool {
	object, ok := r.sink.Recall(o.key, o.uid, o.version)
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.over {
		return false
	}
	r.omitted = append(r.omitted, deltafifo.Delta{
		Op: deltafifo.Added, Recalled: true, Key: o.key, UID: o.uid, Version: o.version, Object: object,
	})
	return true
}

// isPlaceholder tells whether an event stands for something that was left out: a
// bookmark of a server names no object, and one that ends the initial state says
// so in an annotation.
func (r *recall) isPlaceholder(e watch.Event) bool {
	if r == nil || e.Type != watch.Bookmark {
		return false
	}
	m := object.Meta(e.Object)
	return m != nil && m.GetUID() != "" && len(m.GetAnnotations()) == 0
}

// restore makes the delta of the object that an event stands for: the first one
// that was left out and has not been put back.
func (r *recall) restore(d *deltafifo.Delta, e watch.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	named := idOf(object.Meta(e.Object))
	if len(r.omitted) == 0 || named != (id{r.omitted[0].Key, r.omitted[0].UID, r.omitted[0].Version}) {
		return fmt.Errorf("%w: a bookmark that names %v", ErrBadAnswer, named.key)
	}
	*d, r.omitted[0] = r.omitted[0], deltafifo.Delta{}
	r.omitted = r.omitted[1:]
	return nil
}

// end is told that a bookmark came, behind which nothing is left out. Nothing may
// be missing before it.
func (r *recall) end() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	r.over = true
	if len(r.omitted) > 0 {
		return fmt.Errorf("%w: a stream that does not come to %v", ErrBadAnswer, r.omitted[0].Key)
	}
	return nil
}
