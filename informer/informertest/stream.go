package informertest

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch as the shells serve it. A slow reader holds up nobody: its unread changes
// wait in the history.
type stream struct {
	server  *Server
	request Request
	cursor  *cursor // guarded by server.mu
	// ctx ends with the stream: when the reader stops, the time is up, or the server cuts it.
	ctx    context.Context
	cancel context.CancelFunc
}

// stream opens a watch. The caller closes it.
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

// next waits for events and returns all available ones, nil at the end. The objects are shared.
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

// read returns the available events, and a channel that is closed when there may be more. There
// are no more after an error, or if the resource is no longer served. While a fault holds the
// watch, there are none.
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
