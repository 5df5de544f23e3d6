package informertest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Options are the settings of a [Server]. The zero value is a server as the
// Kubernetes minor version of this module has it.
type Options struct {
	// Scheme knows the Go types of the kinds that are served, client-go's
	// where it is nil. Of the built-in kinds, those are served that it knows.
	Scheme *runtime.Scheme
	// BookmarkInterval is the time between the bookmarks that watches get of
	// themselves. Zero or less means none but those of [Server.Bookmark], and
	// the one at the end of a streamed initial state.
	BookmarkInterval time.Duration
	// NoWatchList refuses to stream an initial state, as servers do whose
	// feature WatchList is off: such a watch is Invalid.
	NoWatchList bool
	// NoWatchCache pages lists at version "0", as servers do that read them
	// from etcd. Others ignore the limit there.
	NoWatchCache bool
}

// Server is an API server in memory. It must be closed. All methods may be
// called from any goroutine.
type Server struct {
	scheme *runtime.Scheme
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
	// running counts the goroutines and the HTTP requests, for Close.
	running sync.WaitGroup

	mu       sync.Mutex // guards the rest, and is held for moments only
	model    *model
	changed  chan struct{} // closed, and another one made, when there is something to read
	watches  map[*stream]struct{}
	journal  journal
	faults   []*fault // in the order in which requests meet them
	settling int      // how many calls of Settle are under way
	closed   bool
	endpoint endpoint
	http     *http.Server
}

// New returns a server that holds nothing. It runs; only HTTP clients need
// [Server.Start] or [Server.StartInMemory].
func New(o Options) *Server {
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	s := &Server{
		scheme:  o.Scheme,
		model:   newModel(),
		changed: make(chan struct{}),
		watches: map[*stream]struct{}{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.model.noWatchList, s.model.noWatchCache = o.NoWatchList, o.NoWatchCache
	s.serveBuiltins()
	if o.BookmarkInterval > 0 {
		s.running.Go(func() { s.bookmarkEvery(o.BookmarkInterval) })
	}
	return s
}

// Close ends all watches and all HTTP connections, and returns when nothing
// of the server runs any more. Whatever is asked of it later fails with
// [ErrClosed].
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.cutLocked()
	server := s.http
	s.mu.Unlock()

	s.end()
	if server != nil {
		_ = server.Close() // the listener's error, of which nothing follows
	}
	s.running.Wait()
}

// Compact forgets all history, as etcd does every five minutes in a cluster:
// watches from an earlier version, lists of one and continue tokens expire.
// Watches that are open go on and miss nothing. A long-lived server wants to
// be compacted now and then, since it keeps every state otherwise.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.compact()
}

// Bookmark sends a bookmark to all watches that take bookmarks, behind the
// events that are due to them.
func (s *Server) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bookmarkLocked()
}

// CutWatches ends all watches that are open, as a server does when their time
// is up or when it restarts. Events that are on their way may be lost.
func (s *Server) CutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutLocked()
}

// Watches returns the number of watches that are open.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

func (s *Server) openLocked(ctx context.Context) error {
	if s.closed {
		return ErrClosed
	}
	return context.Cause(ctx)
}

// enter begins something that Close waits for. Who gets true calls
// running.Done at its end.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	return true
}

func (s *Server) bookmarkLocked() {
	s.model.bookmark()
	s.wakeLocked()
}

func (s *Server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) cutLocked() {
	for w := range s.watches {
		w.cancel()
	}
}

func (s *Server) bookmarkEvery(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.Bookmark()
		case <-s.life.Done():
			return
		}
	}
}
