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
	// Scheme knows the Go types of the served kinds; nil for client-go's. Built-in kinds are served
	// if the scheme knows them.
	Scheme *runtime.Scheme
	// BookmarkInterval is the time between the bookmarks that watches get. Zero or less leaves only
	// those of [Server.Bookmark], the one at the end of a streamed initial state, and the one that a watch
	// with a timeout of less than a minute gets two seconds before it.
	BookmarkInterval time.Duration
	// NoWatchList refuses to stream an initial state, like a server without the feature WatchList:
	// such a watch is Invalid.
	NoWatchList bool
	// NoWatchCache pages lists at version "0", like a server that reads them from etcd. Other
	// servers ignore the limit there.
	NoWatchCache bool
	// ShardedListAndWatch serves the parameter shardSelector, like a server with the feature gate of this
	// name. Without it the parameter is ignored, as by default there.
	ShardedListAndWatch bool
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

// New returns an empty server. It runs; only HTTP clients need [Server.Start] or
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

// Close ends all watches and all HTTP connections, and returns when every goroutine of the server
// has ended. Later requests fail with [ErrClosed].
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

// Compact forgets all history, as etcd does every five minutes in a cluster: earlier versions
// expire for watches, lists and continue tokens. Open watches go on and miss nothing. The server
// keeps every state until then, so a long-lived server should be compacted now and then.
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

// CutWatches ends all open watches, as a server does at their timeout or when it restarts. Events
// on their way may be lost.
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

// enter begins work that Close waits for. If it returns true, the caller calls running.Done at the
// end.
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
