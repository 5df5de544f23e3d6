package sim_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// twinned are the deeds of worlds in which client-go's informer does what ours
// does, but for the numbered differences of the contract. Left out is what it
// loses for good or never notices: watches that fall silent (D22), streams
// without their last bookmark (D12), histories that go back (D23), objects that
// cannot be prepared (D3, D4).
var twinned = []deed{write, write, write, burst, pass, rest, notice, cut, expire, fail, early, double}

// teller is a handler of client-go's interface that keeps what it is told of
// each object.
type teller struct {
	mu   sync.Mutex
	told map[string][]string
}

func (h *teller) tell(obj any, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(err)
	}
	h.told[k] = append(h.told[k], fmt.Sprintf(format, args...))
}

func (h *teller) OnAdd(obj any, initial bool) {
	h.tell(obj, "is %s, added, initial %v", markOf(obj.(*pod)), initial)
}

// OnUpdate keeps no update to the same version: client-go tells all objects
// after each list, ours none that is unchanged (D14).
func (h *teller) OnUpdate(old, obj any) {
	if was, is := markOf(old.(*pod)), markOf(obj.(*pod)); was != is {
		h.tell(obj, "is %s, updated from %s", is, was)
	}
}

func (h *teller) OnDelete(obj any) {
	if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.tell(obj, "is gone, lost at %s", markOf(lost.Obj.(*pod)))
		return
	}
	h.tell(obj, "is gone, deleted at %s", markOf(obj.(*pod)))
}

// window is what a handler is told between one rest and the next.
type window struct {
	told   map[string][]string
	before map[string]bool // the objects that were there when it began
	broken bool            // something went wrong meanwhile
}

// lists are what the handler was told of each object. Where something went
// wrong it is a matter of luck what is seen by the watch and what by a list,
// and so which versions are skipped, and who came and went: then it is how it
// ended.
func (w window) lists() map[string][]string {
	if !w.broken {
		return w.told
	}
	ends := map[string][]string{}
	for k, told := range w.told {
		end, _, _ := strings.Cut(told[len(told)-1], ",")
		if end != "is gone" || w.before[k] {
			ends[k] = []string{end}
		}
	}
	return ends
}

type constructor func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

// differential plays a plan to one implementation.
func differential(t *testing.T, p plan, construct constructor) (windows []window) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{setup: p.setup, plan: p, truth: newTruth(), over: make(chan struct{}), events: map[string]int{}}
		s := &source{w: w, healed: make(chan struct{})}
		w.sources = []*source{s}
		w.serve()
		h := &teller{told: map[string][]string{}}
		shared := construct(listerWatcher{s}, &corev1.Pod{}, 0, cache.Indexers{})
		_, err := shared.AddEventHandler(h)
		require.NoError(t, err)
		// The default one sleeps by a clock that is not the bubble's.
		require.NoError(t, shared.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { shared.RunWithContext(ctx) })

		time.Sleep(time.Minute) // until both have an initial state

		var now window
		for _, step := range append(p.steps, step{deed: rest}) {
			if step.deed != rest {
				now.broken = now.broken || !calm[step.deed]
				w.do(step)
				synctest.Wait()
				continue
			}
			s.heal()
			began := time.Now()
			for synctest.Wait(); !caughtUp(shared, w.truth) && time.Since(began) < bound; synctest.Wait() {
				time.Sleep(10 * time.Second)
			}
			if !caughtUp(shared, w.truth) {
				t.Errorf("it never catches up with the server, which is at %s:\n%v", w.version(), w.trace.String())
				break
			}
			time.Sleep(3 * time.Minute) // until both are watching, and neither backs off
			h.mu.Lock()
			now.told, h.told = h.told, map[string][]string{}
			h.mu.Unlock()
			windows, now = append(windows, now), window{before: map[string]bool{}}
			for k := range w.truth.live {
				now.before[k.String()] = true
			}
		}
		cancel()
		running.Wait()
		w.server.Close()
	})
	return windows
}

func caughtUp(shared cache.SharedIndexInformer, t *truth) bool {
	store := shared.GetStore()
	for k, p := range t.live {
		obj, ok, err := store.GetByKey(k.String())
		if err != nil || !ok || markOf(obj.(*pod)) != markOf(p) {
			return false
		}
	}
	return shared.HasSynced() && len(store.ListKeys()) == len(t.live)
}

// listerWatcher is a source as client-go knows one.
type listerWatcher struct{ source *source }

func (l listerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.source.List(context.Background(), o)
}

func (l listerWatcher) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.source.Watch(context.Background(), o)
}

func (l listerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return l.source.List(ctx, o)
}

func (l listerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.source.Watch(ctx, o)
}

// newTwinnedPlan draws a world for both.
func newTwinnedPlan(seed uint64) plan {
	p := newPlan(seed)
	p.setup = setup{parts: 1, names: p.setup.names, noStream: p.setup.noStream, noCache: p.setup.noCache, bookmarks: p.setup.bookmarks}
	whole := false
	for i := range p.steps {
		s := &p.steps[i]
		if i%6 == 5 { // every other time between two rests nothing goes wrong
			s.deed, whole = rest, !whole
			continue
		}
		if whole {
			s.deed, s.n = write, 1+s.n%6
			continue
		}
		if s.deed = twinned[int(s.seed%uint64(len(twinned)))]; s.deed == fail {
			s.n = 1 + s.n%3 // an error that both answer alike
		}
	}
	return p
}

// The same world, played to client-go's informer and to ours behind the same
// interface, tells a handler the same.
func TestClientgoIsToldTheSame(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newTwinnedPlan(seed)
			want := differential(t, p, cache.NewSharedIndexInformer)
			got := differential(t, p, informer.NewSharedIndexInformer)
			require.Len(t, got, len(want))
			whole := 0
			for i := range want {
				require.Equal(t, want[i].lists(), got[i].lists(), "after rest %d of %v", i, p.steps)
				if !want[i].broken {
					whole += len(slices.Collect(maps.Keys(want[i].told)))
				}
			}
			t.Logf("%d lists of events were compared whole", whole)
		})
	}
}
