package reflector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Options configures a [Reflector], which an informer's user does not need. The zero value suits most
// authors of a sink.
type Options struct {
	// Name names the reflector in its errors.
	Name string
	// PageSize, unless zero, is the limit of every list. The server answers lists with a limit
	// from etcd instead of its cache, which burdens both; by default, only lists that etcd
	// answers anyway have a limit.
	PageSize int64
	// MinWatchTimeout is the shortest timeout to request watches with; the longest is twice as
	// long. Less than five minutes counts as five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream may bring nothing of its initial state before a list is
	// tried. Zero means ten seconds, or one second if the source does not know whether it
	// streams.
	StreamPatience time.Duration
	// ListPatience is how long a page of a list may take to arrive. Zero means ten minutes.
	ListPatience time.Duration
	// Expect, unless empty, is the required kind of unstructured objects of a watch; others are
	// skipped.
	Expect schema.GroupVersionKind
	// Type, unless nil, is the required Go type of the objects of a watch; others are skipped.
	Type reflect.Type
	// Check, unless nil, returns an error for objects that the sink cannot take, in lists as
	// well: they are skipped.
	Check func(runtime.Object) error
	// Version, unless empty, is the present resourceVersion of the sink. The first full state is
	// requested not older than it, and a list without a version is an error from the beginning.
	Version string
	// Share, unless nil, is the part of the objects to read. The server is asked for it, and foreign
	// objects are dropped: what the sink gets of a change of theirs is, at most, a
	// [deltafifo.Progress].
	Share *Share
	// Decoding configures how objects are decoded.
	Decoding
	// Backoff, unless nil, returns the delay of a back-off step, counted from 1 since the last
	// healthy time, instead of the one described at the package. A server's Retry-After is obeyed
	// in any case.
	Backoff func(step int) time.Duration
	// After, unless nil, replaces [time.After] for the back-off, for tests with a clock of
	// client-go's kind.
	After func(time.Duration) <-chan time.Time
	// Observe, unless nil, is called with each event, one call at a time. Run waits for it, so it
	// should be quick.
	Observe func(Event)
	// Rand returns numbers in [0, 1) to spread back-offs and timeouts; nil means math/rand/v2. A
	// simulation sets it to be repeatable.
	Rand func() float64
}

// Reflector mirrors a [Source] into a [Sink]. It runs once.
type Reflector struct {
	source Source
	sink   Sink
	o      Options
	keeper keeper.Sink // the sink, if it keeps the objects
	form   keeper.Form // of the objects, if they are decoded here

	started atomic.Bool

	asked chan struct{} // has a token while somebody waits for a bookmark

	mu      sync.Mutex
	version string
	askedAt time.Time
}

// New returns a reflector, for authors of a sink of their own: an informer's user does not need it. The
// reflector does not run yet; Run returns the errors of the arguments.
func New(src Source, sink Sink, o Options) *Reflector {
	r := &Reflector{source: src, sink: sink, o: o, asked: make(chan struct{}, 1)}
	r.keep()
	return r
}

// Run reflects until ctx ends, and then returns nil. It returns [ErrNoSource], [ErrNoSink] or
// [ErrBadOptions] at once if the arguments of New are wrong, and [ErrStarted] if it was called
// before. If a function of the source ends its goroutine (runtime.Goexit), Run returns an error that
// wraps [indexer.ErrExited]. If a call of the sink, Observe, or another function of the options ends
// its goroutine, that is Run's, and it ends.
func (r *Reflector) Run(ctx context.Context) error {
	if err := r.validate(); err != nil {
		return err
	}
	if !r.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	l := newLoop(ctx, r)
	defer func() { l.reader.End() }()
	defer l.closeConn("stopped")
	defer l.closePage()
	defer l.closeAhead()
	return l.listAndWatch()
}

// Version returns the newest resourceVersion up to which the sink has everything, or "" before
// the first full state. It may be called from any goroutine.
func (r *Reflector) Version() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.version
}

func (r *Reflector) setVersion(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.version = version
}

// AskForBookmark lets the reflector find out how far its watch has come, though nothing changes: it
// opens the watch again for three seconds, since a server sends a bookmark before it ends a watch, and the
// sink gets it. AskForBookmark does not wait. It does nothing within two seconds of another call, and for
// a source that may be a fake: it is not known to stream, and has sent no bookmark. Without an open watch,
// the next one counts. It may be called from any goroutine.
func (r *Reflector) AskForBookmark() {
	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.askedAt.IsZero() && !elapsed(r.askedAt, askAgainAfter) {
		return
	}
	r.askedAt = time.Now()
	select {
	case r.asked <- struct{}{}:
	default:
	}
}

func (r *Reflector) validate() error {
	switch {
	case r.source.IsZero():
		return ErrNoSource
	case r.sink == nil:
		return ErrNoSink
	case r.o.MinWatchTimeout < 0:
		return fmt.Errorf("%w: MinWatchTimeout is %v", ErrBadOptions, r.o.MinWatchTimeout)
	case r.o.StreamPatience < 0:
		return fmt.Errorf("%w: StreamPatience is %v", ErrBadOptions, r.o.StreamPatience)
	case r.o.ListPatience < 0:
		return fmt.Errorf("%w: ListPatience is %v", ErrBadOptions, r.o.ListPatience)
	case r.o.PageSize < 0:
		return fmt.Errorf("%w: PageSize is %d", ErrBadOptions, r.o.PageSize)
	case r.o.Share != nil && r.o.Share.Set().Field() == 0:
		return fmt.Errorf("%w: Share: %w", ErrBadOptions, shard.ErrField)
	}
	if _, err := fields.Parse(r.o.Drop...); err != nil {
		return fmt.Errorf("%w: Drop: %w", ErrBadOptions, err)
	}
	return nil
}

func (r *Reflector) random() float64 {
	if r.o.Rand != nil {
		return r.o.Rand()
	}
	return rand.Float64()
}
