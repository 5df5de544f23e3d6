package informertest

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is an open watch of a [Server.Source] or an HTTP client. A slow reader delays no other reader: its
// unread events stay in the model's history.
type stream struct {
	server  *Server
	request Request
	cursor  *cursor // guarded by server.mu
	// ctx ends with the watch: at Stop, at the timeout, or when the server cuts the watch.
	ctx    context.Context
	cancel context.CancelFunc
	// ending receives a value two seconds before the timeout. It is nil without a timeout or bookmarks.
	ending <-chan time.Time
	marks  bool // the next read ends with a bookmark; guarded by server.mu
}

// A watch with a short timeout gets a bookmark before it ends, as from kube-apiserver. A longer watch does
// not, because a server without a BookmarkInterval does not send bookmarks by itself.
const (
	lastBookmark = 2 * time.Second
	shortTimeout = time.Minute
)

// stream opens a watch. The caller must close it.
func (s *Server) stream(ctx context.Context, request Request, o internalversion.ListOptions) (*stream, error) {
	request = request.selecting(o)
	request.streams = value(o.SendInitialEvents)
	if _, err := s.begin(ctx, request); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	o.Watch = true
	c, err := s.model.watch(request.resource(), request.Namespace, o)
	if err != nil {
		return nil, err
	}
	w := &stream{server: s, request: request, cursor: c}
	if seconds := value(o.TimeoutSeconds); seconds > 0 {
		timeout := time.Duration(min(seconds, math.MaxInt32)) * time.Second
		w.ctx, w.cancel = context.WithTimeout(ctx, timeout)
		if c.wantsBookmarks && timeout > lastBookmark && timeout < shortTimeout {
			w.ending = time.After(timeout - lastBookmark)
		}
	} else {
		w.ctx, w.cancel = context.WithCancel(ctx)
	}
	s.watches[w] = struct{}{}
	if s.settling > 0 {
		s.bookmarkLocked()
	}
	return w, nil
}

// next waits for events, and returns all that are ready. At the end of the watch it returns nil. The objects
// are shared.
func (w *stream) next() []watch.Event {
	for w.ctx.Err() == nil {
		events, changed := w.read()
		if len(events) > 0 {
			return events
		}
		select {
		case <-changed:
		case <-w.ending:
			w.server.mu.Lock()
			w.marks = true
			w.server.mu.Unlock()
		case <-w.ctx.Done():
		}
	}
	return nil
}

// read returns the events that are ready, and a channel that is closed when there may be more. After an error
// event, or the last event of an unregistered resource, read ends the watch. No event is ready while a fault
// holds the watch, or after the watch was cut.
func (w *stream) read() ([]watch.Event, <-chan struct{}) {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.ctx.Err() != nil {
		return nil, w.server.changed
	}
	if over := w.server.heldLocked(w.request); over != nil {
		return nil, over
	}
	events := w.cursor.read()
	if w.marks && !w.cursor.failed {
		w.marks = false
		events = append(events, watch.Event{Type: watch.Bookmark, Object: w.cursor.kind.bookmark(w.server.model.version)})
	}
	if len(events) == 0 && (w.cursor.failed || w.cursor.dropped) {
		w.cancel()
	}
	return events, w.server.changed
}

func (w *stream) close() {
	w.cancel()
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	delete(w.server.watches, w)
}
