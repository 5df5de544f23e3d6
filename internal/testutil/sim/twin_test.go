package sim_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

type constructor func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

// twin is a world with an implementation of client-go's interface.
type twin struct {
	*world
	t         *testing.T
	source    *source
	shared    cache.SharedIndexInformer
	recorders []*recorder
	cancel    context.CancelFunc
	ended     sync.WaitGroup
	errors    int // calls of the watch error handler
}

// newTwin returns a world whose informer does not run yet. The caller is in a bubble.
func newTwin(t *testing.T, p plan, construct constructor, indexers cache.Indexers, transform cache.TransformFunc) *twin {
	t.Helper()
	w := &world{setup: p.setup, plan: p, model: newModel(), over: make(chan struct{}), reached: map[string]int{}}
	s := &source{w: w, healing: make(chan struct{})}
	w.sources = []*source{s}
	w.serve()
	lw := &cache.ListWatch{ListWithContextFunc: s.List, WatchFuncWithContext: s.Watch}
	d := &twin{world: w, t: t, source: s, shared: construct(lw, &corev1.Pod{}, 0, indexers)}
	require.NoError(t, d.shared.SetTransform(transform))
	// The default handler sleeps by a clock outside of the bubble.
	require.NoError(t, d.shared.SetWatchErrorHandler(func(*cache.Reflector, error) { d.errors++ }))
	d.addHandler()
	return d
}

// start starts the informer.
func (d *twin) start() {
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	d.ended.Go(func() { d.shared.RunWithContext(ctx) })
}

// end stops the informer and the server.
func (d *twin) end() {
	d.cancel()
	d.source.heal()
	d.ended.Wait()
	d.server.Close()
	synctest.Wait()
}

// addHandler adds a handler.
func (d *twin) addHandler() {
	h := &recorder{recorded: map[string][]string{}}
	var err error
	h.reg, err = d.shared.AddEventHandler(h)
	require.NoError(d.t, err)
	d.recorders = append(d.recorders, h)
}

// removeHandler removes a handler, but never the first one. The step's seed selects it.
func (d *twin) removeHandler(s step) {
	if n := len(d.recorders); n > 1 {
		require.NoError(d.t, d.shared.RemoveEventHandler(d.recorders[1+int(s.seed%uint64(n-1))].reg))
	}
}

// doStep does a step.
func (d *twin) doStep(s step) {
	switch s.op {
	case join:
		d.addHandler()
	case leave:
		d.removeHandler(s)
	default:
		d.do(s)
	}
	synctest.Wait()
}

// stored returns the content of the store and of its indexes.
func (d *twin) stored() (lines []string) {
	store := d.shared.GetIndexer()
	lines = append(lines, fmt.Sprint("all: ", spellAll(store.List())))
	for _, name := range slices.Sorted(maps.Keys(store.GetIndexers())) {
		values := store.ListIndexFuncValues(name)
		slices.Sort(values)
		for _, value := range values {
			objects, err := store.ByIndex(name, value)
			require.NoError(d.t, err)
			keys, err := store.IndexKeys(name, value)
			require.NoError(d.t, err)
			slices.Sort(keys)
			lines = append(lines, fmt.Sprintf("%s %s: %v, keys %v", name, value, spellAll(objects), keys))
		}
	}
	return lines
}

// spellAll describes objects, and says whether they were transformed.
func spellAll(objects []any) []string {
	all := []string{}
	for _, obj := range objects {
		p := obj.(*pod)
		all = append(all, spell(p)+p.Spec.SchedulerName)
	}
	slices.Sort(all)
	return all
}

// recorder is a handler with client-go's interface that records its events by object.
type recorder struct {
	reg   cache.ResourceEventHandlerRegistration
	again bool // records updates to the same version, too

	mu       sync.Mutex
	recorded map[string][]string // guarded by mu
}

func (h *recorder) tell(obj any, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(err)
	}
	h.recorded[k] = append(h.recorded[k], fmt.Sprintf(format, args...))
}

// take returns the events since the previous call.
func (h *recorder) take() map[string][]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	recorded := h.recorded
	h.recorded = map[string][]string{}
	return recorded
}

func (h *recorder) OnAdd(obj any, initial bool) {
	h.tell(obj, "is %s, added, initial %v", markOf(obj.(*pod)), initial)
}

// OnUpdate ignores updates to the same version. After each list, client-go delivers all objects, but
// this module only changed ones (D14).
func (h *recorder) OnUpdate(old, obj any) {
	if was, is := markOf(old.(*pod)), markOf(obj.(*pod)); was != is || h.again {
		h.tell(obj, "is %s, updated from %s", is, was)
	}
}

func (h *recorder) OnDelete(obj any) {
	if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.tell(obj, "is gone, lost at %s", markOf(lost.Obj.(*pod)))
		return
	}
	h.tell(obj, "is gone, deleted at %s", markOf(obj.(*pod)))
}
