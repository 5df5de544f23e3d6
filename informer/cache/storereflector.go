package cache

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/naming"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// StoreReflector mirrors a ListerWatcher into a store with this module's reflector. It has the methods of
// client-go's Reflector. [Reflector] itself is client-go's type, because watch error handlers take it. Set
// the fields before the first run.
type StoreReflector struct {
	// WatchListPageSize, if not zero, is the limit of every list.
	WatchListPageSize int64
	// ShouldResync, if set, decides on each resync that is due.
	ShouldResync func() bool
	// MaxInternalErrorRetryDuration is how long ListAndWatch continues while watches end with internal
	// errors. Run always continues.
	MaxInternalErrorRetryDuration time.Duration

	source      ListerWatcher
	expected    any
	store       ReflectorStore
	o           ReflectorOptions
	name        string
	description string

	// Invariant: running is the current run's reflector, or nil. version is the version at the end of the
	// previous run.
	mu       sync.Mutex
	running  *resyncingReflector
	version  string
	pagesAt0 bool // a list of a previous run at "0" came in pages
}

// Name returns the name in the options, or else the place in the source code where the reflector was made.
func (r *StoreReflector) Name() string { return r.name }

// TypeDescription describes the type of the objects, for messages.
func (r *StoreReflector) TypeDescription() string { return r.description }

// LastSyncResourceVersion returns the newest version up to which the store has all changes, or ""
// before the first full state.
func (r *StoreReflector) LastSyncResourceVersion() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.reached()
}

// reached returns the version of the current run or, until it has one, of the previous run. The caller holds
// mu.
func (r *StoreReflector) reached() string {
	if r.running != nil {
		if version := r.running.Version(); version != "" {
			return version
		}
	}
	return r.version
}

// Run reflects until stop is closed.
func (r *StoreReflector) Run(stop <-chan struct{}) { r.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext reflects until ctx ends. It logs failures, and retries after a back-off. If it cannot run at
// all, it logs the error.
func (r *StoreReflector) RunWithContext(ctx context.Context) {
	if err := r.run(ctx, func(reflector.Event) {}, func() {}); err != nil {
		klog.FromContext(ctx).Error(err, "The reflector cannot run", "reflector", r.name)
	}
}

// ListAndWatch is [StoreReflector.ListAndWatchWithContext] until stop is closed.
func (r *StoreReflector) ListAndWatch(stop <-chan struct{}) error {
	return r.ListAndWatchWithContext(wait.ContextForChannel(stop))
}

// ListAndWatchWithContext reflects until ctx ends, or until a failure that would also end client-go's method.
// It returns the error of a list, or of a watch that could not be opened. It returns nil if a watch breaks,
// or if the store refuses a resync. Another call continues from the version reached.
func (r *StoreReflector) ListAndWatchWithContext(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := attempt{patience: r.MaxInternalErrorRetryDuration, end: cancel}
	if err := r.run(ctx, a.observe, cancel); err != nil {
		return err
	}
	return a.err
}

// run runs a reflector until ctx ends. When the store refuses a resync, it calls resyncRefused from a
// different goroutine than observe.
func (r *StoreReflector) run(ctx context.Context, observe func(reflector.Event), resyncRefused func()) error {
	if r.o.Logger != nil {
		ctx = klog.NewContext(ctx, *r.o.Logger)
	}
	log := informer.LogEvents(ctx, r.messageName())
	var found pages
	current, err := r.begin(func(e informer.Event) {
		log(e)
		if failed, ok := e.(reflector.Failed); ok && failed.Operation == opResync { // not a failure of the reflector
			resyncRefused()
		} else if seen, ok := e.(reflector.Event); ok {
			found.observe(seen)
			observe(seen)
		}
	})
	if err != nil {
		return err
	}
	defer func() { r.end(found) }()
	return current.Run(ctx)
}

// pageSize is the page size of later lists, the same as the reflector's own.
const pageSize = 500

// pages records whether lists at "0" come in pages. If so, the server has no watch cache, and later lists
// also request pages (B46).
type pages struct {
	asked string // the version of the last list
	at0   bool
}

func (p *pages) observe(e reflector.Event) {
	switch e := e.(type) {
	case reflector.Asked:
		p.asked = e.Version
	case reflector.Paged:
		p.at0 = p.at0 || e.Operation == reflector.OpList && p.asked == "0" && e.Remaining != 0
	}
}

// messageName returns the reflector's name in errors, which defaults to its type.
func (r *StoreReflector) messageName() string {
	return nameOf(r.expected, r.o.Name, r.o.TypeDescription)
}

func (r *StoreReflector) begin(observe func(informer.Event)) (*resyncingReflector, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.running != nil {
		return nil, reflector.ErrStarted
	}
	settings := storeSettings{name: r.messageName(), store: r.store, resync: r.o.ResyncPeriod, due: r.ShouldResync, observe: observe, after: time.After}
	options := reflector.Options{MinWatchTimeout: r.o.MinWatchTimeout, PageSize: r.WatchListPageSize, Version: r.version}
	if options.PageSize == 0 && r.pagesAt0 {
		options.PageSize = pageSize
	}
	if r.o.Backoff != nil {
		options.Backoff = steps(*r.o.Backoff)
	}
	if r.o.Clock != nil {
		options.After, settings.after = r.o.Clock.After, r.o.Clock.After
	}
	r.running = newStoreReflector(r.source, r.expected, settings, options)
	return r.running, nil
}

func (r *StoreReflector) end(found pages) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.pagesAt0 = r.pagesAt0 || found.at0
	r.version, r.running = r.reached(), nil
}

// attempt observes one ListAndWatch, and ends it after a failure.
type attempt struct {
	patience time.Duration // with internal errors
	end      func()

	// Only observe uses these fields. Its calls never overlap, and Run waits for them.
	watch   watchState
	failing time.Time // when consecutive internal errors began, or zero
	err     error
}

// watchState records whether a watch is open. If it is, a failure belongs to the watch.
type watchState int

const (
	notWatching watchState = iota
	watching
)

func (a *attempt) observe(e reflector.Event) {
	switch e := e.(type) {
	case reflector.WatchStarted:
		a.watch = watching
	case reflector.WatchEnded:
		a.watch = notWatching
	case reflector.Listed:
		a.watch, a.failing = notWatching, time.Time{}
	case reflector.Failed:
		if !a.retries(e) {
			a.fail(e)
		}
		a.watch = notWatching
	}
}

// fail ends the attempt. As in client-go, the error of a watch is returned unwrapped.
func (a *attempt) fail(e reflector.Failed) {
	switch cause := errors.Unwrap(e.Err); {
	case a.watch == watching || a.err != nil:
	case e.Operation == reflector.OpWatch && cause != nil:
		a.err = cause
	default:
		a.err = e.Err
	}
	a.end()
}

// retries reports whether client-go would retry the watch after a failure or, after a failed stream of the
// initial state, send a list instead.
func (a *attempt) retries(e reflector.Failed) bool {
	switch {
	case e.Operation == reflector.OpStream && a.watch == notWatching:
		return true
	case e.Operation == reflector.OpList: // after these errors client-go lists the newest state
		return e.Class == reflector.ErrorExpired
	case apierrors.IsInternalError(e.Err) && a.patience > 0:
		if a.failing.IsZero() {
			a.failing = time.Now()
		}
		return time.Since(a.failing) < a.patience
	}
	return apierrors.IsTooManyRequests(e.Err) || utilnet.IsConnectionRefused(errors.Unwrap(e.Err))
}

// describeType describes the type of an object as client-go does.
func describeType(expected any) string {
	if expected == nil {
		return "<unspecified>"
	}
	if u, ok := expected.(*unstructured.Unstructured); ok && !u.GroupVersionKind().Empty() {
		return u.GroupVersionKind().String()
	}
	return reflect.TypeOf(expected).String()
}

// ignoredPackages is the argument of naming.GetNameFromCallsite. Callers in these packages do not name a
// reflector.
const ignoredPackages = "tidemark/informer/cache/"

// callsite returns the nearest caller outside this package.
func callsite() string { return naming.GetNameFromCallsite(ignoredPackages) }
