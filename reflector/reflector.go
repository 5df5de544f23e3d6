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

	"github.com/tidemark-k8s/tidemark/internal/goexit"
)

// Options configures a [Reflector]. The zero value is what most want.
type Options struct {
	// Name names the reflector in its errors.
	Name string
	// PageSize, unless zero, is the limit of every list. Lists with a limit
	// are answered by etcd instead of the server's cache, which is a burden
	// for both; without it, only lists that etcd answers anyway have one.
	PageSize int64
	// MinWatchTimeout is the least time that a watch is asked to last; the
	// most is twice that. Less than five minutes counts as five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream may bring nothing of its initial state; a
	// list follows then. Zero stands for ten seconds, and for one where the source
	// does not say whether it streams.
	StreamPatience time.Duration
	// ListPatience is how long a list, or each page of one, may take to arrive. Zero
	// stands for ten minutes.
	ListPatience time.Duration
	// Expect, unless empty, is the kind that unstructured objects of a watch
	// must be of; others are skipped.
	Expect schema.GroupVersionKind
	// Type, unless nil, is the Go type that the objects of a watch must be of;
	// others are skipped.
	Type reflect.Type
	// Check, unless nil, refuses objects that the sink cannot take, those of lists
	// too: they are skipped.
	Check func(runtime.Object) error
	// Version, unless empty, is the resourceVersion that the sink is at
	// already: the first full state is asked for not older than it, and a list
	// without a version is refused from the beginning.
	Version string
	// Resume says whether a watch from Version will do in place of the first full state.
	Resume Resume
	// Decoding says how objects are decoded.
	Decoding
	// Backoff, unless nil, is the delay of a step of the back-off, counted from 1 since
	// the last healthy time, in place of the one that the package describes. A server
	// that says how long it wants to be left alone is left alone as long at least.
	Backoff func(step int) time.Duration
	// After, unless nil, waits for the back-off in place of [time.After]: the clock of
	// a test of client-go's kind.
	After func(time.Duration) <-chan time.Time
	// DecodeTimes, unless nil, is told how long objects take to decode.
	DecodeTimes *DecodeTimes
	// Observe, unless nil, is called with all that happens, one call after the
	// other. Run waits for it: it should be quick.
	Observe func(Event)
	// Rand returns the numbers in [0, 1) that spread back-offs and timeouts;
	// nil means those of math/rand/v2. A simulation sets it to repeat itself.
	Rand func() float64
}

// Reflector mirrors a [Source] into a [Sink]. It runs once.
type Reflector struct {
	source Source
	sink   Sink
	o      Options

	started atomic.Bool

	mu       sync.Mutex
	version  string
	followed bool
}

// New returns a reflector that is not running. What is wrong with the
// arguments is told by Run.
func New(src Source, sink Sink, o Options) *Reflector {
	return &Reflector{source: src, sink: sink, o: o}
}

// Run reflects until ctx ends, and then returns nil. It returns at once with
// [ErrNoSource], [ErrNoSink] or [ErrBadOptions] if there is nothing to run,
// and with [ErrStarted] if Run was called before. A call of the sink that ends its
// goroutine ends that of Run, but not before ctx has ended.
func (r *Reflector) Run(ctx context.Context) error {
	if err := r.validate(); err != nil {
		return err
	}
	if !r.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	l := &loop{Reflector: r, ctx: ctx, decoder: newDecoder(r.o)}
	l.machine.pageSize, l.machine.version = r.o.PageSize, r.o.Version
	if r.o.Version != "" {
		l.machine.history.versions = versionsKnown
		l.presence.holds = true
	}
	defer l.closeConn("stopped")
	defer l.closePage()
	defer l.closeAhead()
	goexit.Outlive(l.listAndWatch)
	return nil
}

// Followed tells, when Run has returned, whether the sink had all that the source has told
// up to [Reflector.Version], in a history that nothing put in doubt, and a watch was open:
// then another reflector may resume from there. It may be called from any goroutine.
func (r *Reflector) Followed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.followed
}

func (r *Reflector) setFollowed(followed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.followed = followed
}

// Version returns the newest resourceVersion up to which the sink was told
// everything, or "" before the first full state. It may be called from any
// goroutine.
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

func (r *Reflector) validate() error {
	switch {
	case r.source == nil:
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
	return r.o.Validate()
}

func (r *Reflector) random() float64 {
	if r.o.Rand != nil {
		return r.o.Rand()
	}
	return rand.Float64()
}
