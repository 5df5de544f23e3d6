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

// Recaller is implemented by a [Sink] that can return its objects, so that a transport may leave
// them out of a stream (see [Wire]). Recall returns the object stored under a key, if it was made
// from the server's object of this UID and version; neither is ever empty. It may be called from any
// goroutine, also after Run has returned, and must not block.
//
// The reflector writes objects that were left out to the sink, too, in their place in the order,
// with the recalled object and with [deltafifo.Delta].Recalled set.
type Recaller interface {
	Recall(key indexer.Key, uid, version string) (any, bool)
}

// reuser is implemented by a [Sink] that can return its objects in place of equal ones that a client
// has decoded. Reuse is called with the objects of a list before they are written, unless equal
// versions do not mean equal objects. For each object that the sink holds in the same UID and
// version, it may set Object to its own one, and Recalled. It must not keep the listed objects.
type reuser interface {
	Reuse(listed []deltafifo.Delta)
}

// omitter chooses the objects to leave out of a stream. A request's context holds it under
// omitterKey.
type omitter interface {
	// omit reports whether to replace an object by a bookmark with its name.
	omit(id) bool
}

type omitterKey struct{}

// recall restores the objects that a transport has left out of a stream. The transport calls omit,
// on its own goroutine; the loop restores in the same order.
type recall struct {
	sink Recaller

	mu      sync.Mutex
	omitted []deltafifo.Delta // not put back yet
	over    bool              // no more objects are left out
}

// recalling returns the context of a stream. If the sink is a Recaller, the context lets the
// transport leave out objects.
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

// isPlaceholder reports whether an event stands for an object that was left out. A server's
// bookmarks have no name, and the bookmark at the end of the initial state has an annotation.
func (r *recall) isPlaceholder(e watch.Event) bool {
	if r == nil || e.Type != watch.Bookmark {
		return false
	}
	m := object.Meta(e.Object)
	return m != nil && m.GetUID() != "" && len(m.GetAnnotations()) == 0
}

// restore makes the delta for a placeholder: of the first object left out and not yet restored.
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

// end is called for a server's bookmark. It returns an error if an object left out before it was
// not restored.
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
