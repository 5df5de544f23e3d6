package informertest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Options configure a [Server]. The zero value behaves like a server of this module's Kubernetes
// minor version.
type Options struct {
	// Scheme has the Go types of the served kinds. It defaults to client-go's scheme. The server has the
	// built-in kinds that the scheme knows.
	Scheme *runtime.Scheme
	// BookmarkInterval is the time between the bookmarks of a watch. If it is not positive, the server sends
	// bookmarks only in these cases: at [Server.Bookmark], at the end of a streamed initial state, and two
	// seconds before the end of a watch with a timeout of less than a minute.
	BookmarkInterval time.Duration
	// NoWatchList refuses to stream an initial state, like a server without the feature WatchList. The answer
	// to such a watch is Invalid.
	NoWatchList bool
	// NoWatchCache pages lists at version "0", like a server that reads them from etcd. Other servers ignore
	// the limit of such a list.
	NoWatchCache bool
	// ShardedListAndWatch enables the parameter shardSelector, like the feature gate of this name. By default
	// the server ignores the parameter.
	ShardedListAndWatch bool
}

// Server is an API server in memory. Call Close when it is no longer needed. All methods are safe for
// concurrent use.
type Server struct {
	scheme *runtime.Scheme
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
	// running counts the goroutines and the HTTP requests, for Close.
	running sync.WaitGroup

	mu       sync.Mutex // guards the rest, and is held for moments only
	model    *model
	changed  chan struct{} // closed, and replaced, when there is something to read
	watches  map[*stream]struct{}
	journal  journal
	faults   []*fault // in the order in which they began
	settling int      // number of calls of Settle in progress
	closed   bool
	endpoint endpoint
	http     *http.Server
}

// New returns an empty server, which runs until Close. HTTP clients also need [Server.Start] or
// [Server.StartInMemory].
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
	s.model.noWatchList, s.model.noWatchCache, s.model.sharded = o.NoWatchList, o.NoWatchCache, o.ShardedListAndWatch
	s.serveBuiltins()
	if o.BookmarkInterval > 0 {
		s.running.Go(func() { s.bookmarkEvery(o.BookmarkInterval) })
	}
	return s
}

// Close ends all watches and HTTP connections, and returns when every goroutine of the server has ended.
// Later requests fail with [ErrClosed].
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.cutLocked()
	server := s.http
	s.mu.Unlock()

	s.end()
	if server != nil {
		_ = server.Close() // an error of the listener does not matter any more
	}
	s.running.Wait()
}

// Compact forgets the history, as etcd does every five minutes in a cluster. Earlier versions then expire for
// watches, lists and continue tokens. Open watches continue and miss nothing. Until then the server keeps
// every state, so call Compact from time to time if a server runs for long.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.compact()
}

// Bookmark sends a bookmark to all watches that take bookmarks, after their pending events.
func (s *Server) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bookmarkLocked()
}

// CutWatches ends all open watches, as a server does at their timeout or when it restarts. Events that have
// not arrived may be lost.
func (s *Server) CutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutLocked()
}

// Watches returns the number of open watches.
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

// enter begins work that Close waits for. If it returns true, the caller must call running.Done at the end.
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
