package informertest

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch as the shells serve it. A reader that is slow, or that
// stopped reading, holds up nobody: what it has not read waits in the history.
type stream struct {
	server  *Server
	request Request
	cursor  *cursor // guarded by server.mu
	// ctx ends when the stream is to end: its reader stopped, its time is up,
	// or the server cut it.
	ctx    context.Context
	cancel context.CancelFunc
}

// stream opens a watch. Whoever gets one closes it.
func (s *Server) stream(ctx context.Context, r schema.GroupVersionResource, namespace string, o internalversion.ListOptions) (*stream, error) {
	request, count := target{resource: r, namespace: namespace}.request("watch"), &s.requests.Watch
	if value(o.SendInitialEvents) {
		request.streams, count = true, &s.requests.WatchList
	}
	if err := s.begin(ctx, request, count); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	o.Watch = true
	c, err := s.model.watch(r, namespace, o)
	if err != nil {
		return nil, err
	}
	w := &stream{server: s, request: request, cursor: c}
	if seconds := value(o.TimeoutSeconds); seconds > 0 {
		w.ctx, w.cancel = context.WithTimeout(ctx, time.Duration(min(seconds, math.MaxInt32))*time.Second)
	} else {
		w.ctx, w.cancel = context.WithCancel(ctx)
	}
	s.watches[w] = struct{}{}
	if s.settling > 0 {
		s.bookmarkLocked()
	}
	return w, nil
}

// next waits for events and returns all there are, nil at the end. The
// objects are shared.
func (w *stream) next() []watch.Event {
	for w.ctx.Err() == nil {
		events, changed := w.read()
		if len(events) > 0 {
			return events
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
		}
	}
	return nil
}

// read returns the events that are ready, and a channel that is closed when
// there may be more. After an error there are no more, nor of a resource that is served no more. While a fault holds the
// watch, nothing is ready.
func (w *stream) read() ([]watch.Event, <-chan struct{}) {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if over := w.server.heldLocked(w.request); over != nil {
		return nil, over
	}
	events := w.cursor.read()
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
