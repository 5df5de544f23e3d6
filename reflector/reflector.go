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

// Options configures a [Reflector]. The zero value suits most sinks.
type Options struct {
	// Name names the reflector in its errors.
	Name string
	// PageSize, unless zero, is the limit of every list. The server reads lists with a limit from
	// etcd instead of its cache, which loads both. By default, only lists that the server reads
	// from etcd anyway have a limit.
	PageSize int64
	// MinWatchTimeout is the shortest timeout of watch requests. The longest is twice that. The
	// minimum is five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream may send nothing of its initial state before the
	// reflector falls back to a list. Zero means ten seconds, or one second if the source does not
	// know whether it streams.
	StreamPatience time.Duration
	// ListPatience is how long a page of a list may take to arrive. Zero means ten minutes.
	ListPatience time.Duration
	// Expect, unless empty, is the required kind of unstructured objects of a watch. The reflector
	// skips others.
	Expect schema.GroupVersionKind
	// Type, unless nil, is the required Go type of the objects of a watch. The reflector skips
	// others.
	Type reflect.Type
	// Check, unless nil, returns an error for objects that the sink cannot take. The reflector
	// skips them, in lists too.
	Check func(runtime.Object) error
	// Version, unless empty, is the current resourceVersion of the sink. The reflector requests a
	// first full state that is not older. A list without a version is then an error from the
	// beginning.
	Version string
	// Share is the part of the objects to read. The zero Set means all objects. The reflector asks
	// the server for the share, and drops foreign objects that the server sends anyway. If it decodes
	// the answers itself, it drops them before decoding. A change of a foreign object is at most a
	// [deltafifo.Progress] for the sink.
	Share shard.Set
	// Decoding configures how objects are decoded.
	Decoding
	// Backoff, unless nil, returns the delay of a back-off step, counted from 1 since the last
	// healthy period. It replaces the delays of the package documentation. The reflector still
	// obeys a server's Retry-After.
	Backoff func(step int) time.Duration
	// After, unless nil, replaces [time.After] for back-offs, in tests with a fake clock like
	// client-go's.
	After func(time.Duration) <-chan time.Time
	// Observe, unless nil, gets each event, one call at a time. Run waits for it, so it should be
	// quick.
	Observe func(Event)
	// Rand returns numbers in [0, 1) that spread back-offs and timeouts. Nil means math/rand/v2.
	// Simulations set it to be reproducible.
	Rand func() float64
}

// Decoding configures how objects are decoded. All fields except Drop apply only to sources whose
// answers the reflector decodes itself, see [FromGenerated] and [Wire]. The zero value shares equal
// values, keeps all fields, and leaves out only objects that cannot be decoded.
type Decoding struct {
	// Unshared gives every object its own values. By default, equal strings and equal nested values
	// of objects of one kind are stored once. A program must not write into a cached object: with
	// shared values, it would change other objects too. The values that programs most often write
	// into are never shared: labels, annotations, finalizers, owner references, the data of
	// ConfigMaps and Secrets, and node selectors.
	Unshared bool
	// Drop lists fields to leave out of all objects, such as "metadata.managedFields". A field is a
	// path of JSON names that skips lists. Map keys are names too, as in "data.token". A name
	// cannot contain a dot. Dropped fields are absent, as if the server had not sent them. A type
	// that decodes itself gets its JSON without them. You cannot drop the identity, the version,
	// deletionTimestamp, finalizers or ownerReferences.
	//
	// An object without managedFields is safe in an Update, a Patch or an Apply. An object that
	// lacks any other field is safe only in a Patch, because an Update would remove the field.
	Drop []string
	// FailOnUndecodable makes an undecodable object fail its list or watch, as in client-go. The
	// first full state is then never complete. Set it for programs that delete everything that the
	// sink does not have. By default, the sink leaves the object out or keeps its earlier state,
	// and [Undecodable] reports it.
	FailOnUndecodable bool
}

// Reflector mirrors a [Source] into a [Sink]. It runs once.
type Reflector struct {
	source Source
	sink   Sink
	o      Options
	share  *shareFilter // nil: all objects are read
	keeper keeper.Sink  // the sink, if it keeps the objects
	form   keeper.Form  // of the objects, if they are decoded here

	started atomic.Bool

	asked chan struct{} // has a token while a caller waits for a bookmark

	mu      sync.Mutex
	version string
	askedAt time.Time
}

// New returns a reflector, for authors of their own sinks. Invalid arguments are errors of
// [Reflector.Run].
func New(src Source, sink Sink, o Options) *Reflector {
	r := &Reflector{source: src, sink: sink, o: o, share: newShareFilter(o.Share), asked: make(chan struct{}, 1)}
	r.keep()
	return r
}

// Run mirrors the source until ctx ends, and then returns nil. It returns [ErrNoSource],
// [ErrNoSink] or [ErrBadOptions] at once if the arguments of New are invalid, and [ErrStarted] if
// Run was called before. If a function of the source calls runtime.Goexit, Run returns an error
// that wraps [indexer.ErrExited]. The sink, Observe, and the other functions of the options run on
// Run's own goroutine, so their Goexit ends it.
func (r *Reflector) Run(ctx context.Context) error {
	if err := r.validate(); err != nil {
		return err
	}
	if !r.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	l := newLoop(ctx, r)
	defer func() { l.subscriber.End() }()
	defer l.closeConn("stopped")
	defer l.closePage()
	defer l.closeAhead()
	return l.listAndWatch()
}

// Version returns the newest resourceVersion up to which the sink has everything, or "" before the
// first full state. Any goroutine may call it.
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

// askForBookmark implements [keeper.Reflector].
func (r *Reflector) askForBookmark() {
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
