package conformance_test

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// rig is an implementation of an informer.
type rig struct {
	name string
	// shared makes an informer with client-go's interface. It is nil for the typed API.
	shared   func(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer
	newIndex func(key cache.KeyFunc, ix cache.Indexers) cache.Indexer
	newStore func(key cache.KeyFunc) cache.Store
	// make makes an informer of pods that is not running yet.
	make func(t T, lw cache.ListerWatcher, o settings) subject
	// packed makes our informers pack their objects, and keep this many bytes of them decoded. All tests
	// also hold in this mode.
	packed bool
	budget int64
}

// title returns the name of a rig and its mode.
func (r rig) title() string {
	if r.packed {
		return r.name + "-packed"
	}
	return r.name
}

// inBothModes returns the rigs, with our rigs twice: the second time with packed objects.
func inBothModes(rigs []rig) (all []rig) {
	for _, r := range rigs {
		all = append(all, r)
		if r.name != clientgoRig.name {
			r.packed = true
			all = append(all, r)
		}
	}
	return all
}

// requireSame fails unless two objects are the same, or are equal if the rig's informers decode objects
// for each read.
func (r rig) requireSame(t T, want, got any, why ...any) {
	if r.packed {
		require.Equal(t, want, got, why...)
	} else {
		require.Same(t, want, got, why...)
	}
}

// storage says how the rig's informers store their objects.
func (r rig) storage() (s informer.Storage) {
	if r.packed {
		s.Decoded = informer.NewBudget(r.budget)
	}
	return s
}

// settings of an informer. The zero value has neither indexes nor resyncs.
type settings struct {
	resync  time.Duration
	indexes cache.Indexers
	storage informer.Storage // set by the rig
}

// subject is an informer under test, with the methods common to all implementations.
type subject interface {
	handle(t T, h funcs, resync *time.Duration) registration
	run(ctx context.Context)
	synced() bool
	stopped() bool
	// version is LastSyncResourceVersion. storeVersion is the version of the store.
	version() string
	storeVersion() string
	// get returns nil if there is no object.
	get(key string) any
	keys() []string
	by(index, value string) ([]string, error)
	addIndexers(ix cache.Indexers) error
	transform(f cache.TransformFunc) error
	onError(h func(error)) error
	// storageStatus is only for our informers.
	storageStatus() informer.StorageStatus
}

// registration is a handler added to a subject.
type registration interface {
	synced() bool
	remove() error
}

var (
	clientgoRig = rig{
		name: "client-go", shared: cache.NewSharedIndexInformerWithOptions,
		newIndex: func(key cache.KeyFunc, ix cache.Indexers) cache.Indexer { return cache.NewIndexer(key, ix) }, newStore: func(key cache.KeyFunc) cache.Store { return cache.NewStore(key) },
	}.withShared()
	sharedRig = rig{
		name: "shared", shared: tidecache.NewSharedIndexInformerWithOptions,
		newIndex: func(key cache.KeyFunc, ix cache.Indexers) cache.Indexer { return tidecache.NewIndexer(key, ix) }, newStore: func(key cache.KeyFunc) cache.Store { return tidecache.NewStore(key) },
	}.withShared()
	typedRig = rig{name: "typed", make: newTyped}
)

var rigs = []rig{clientgoRig, sharedRig, typedRig}

// funcs is a handler. Its nil functions do nothing.
type funcs = cache.ResourceEventHandlerDetailedFuncs

// world is a subject with its scripted server.
type world struct {
	subject
	*kit.Script
	t    T
	stop func() // ends the run and waits until it has ended; nil before start
}

// world makes an informer that reads a script. It does not run yet.
func (r rig) world(t T, s *kit.Script, o ...settings) *world {
	with := append(o, settings{})[0]
	with.storage = r.storage()
	return &world{subject: r.make(t, s, with), Script: s, t: t}
}

// relist expires the watch, and waits for the first step of the back-off.
func (w *world) relist() {
	w.Expire()
	time.Sleep(5 * time.Second)
}

// addRecorder adds a recording handler.
func (w *world) addRecorder(resync ...time.Duration) (*kit.Recorder, registration) {
	r := &kit.Recorder{}
	return r, w.addHandler(r.Handler(), resync...)
}

// addHandler adds a handler, with its own resync period if resync has one.
func (w *world) addHandler(h funcs, resync ...time.Duration) registration {
	if len(resync) > 0 {
		return w.handle(w.t, h, &resync[0])
	}
	return w.handle(w.t, h, nil)
}

// start runs the informer until the test ends, and waits until it is idle.
func (w *world) start() *world {
	w.stop = background(w.t, w.run)
	return w
}

// background runs a function until stop is called or the test ends.
func background(t T, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// collectErrors collects the errors passed to the informer's error handler.
func (w *world) collectErrors() func() []error {
	var mu sync.Mutex
	var errs []error
	require.NoError(w.t, w.onError(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}))
	return func() []error {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return append([]error(nil), errs...)
	}
}

// shared returns the subject's client-go interface.
func (w *world) shared() cache.SharedIndexInformer { return w.subject.(sharedSubject).informer }

// podType is the type of all subjects' objects.
type podType = *corev1.Pod

var podResource = corev1.SchemeGroupVersion.WithResource("pods")
