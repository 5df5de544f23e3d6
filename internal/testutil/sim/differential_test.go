package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// The operations in worlds where client-go's informer must behave like this module's. differs_test.go
// has the worlds in which client-go loses a change forever, or delivers other events. The conformance
// tests cover resyncs: client-go's ticks restart with each list (D11: ours do not), so that their number
// here would depend on chance.
var (
	twinned = []operation{write, write, write, burst, pass, settle, sendBookmark, cutWatches, compact, failRequests, endWatchEarly, duplicateEvents, lateEvents}
	quiet   = []operation{write, write, write, burst, join, leave, pass}
)

// window has the events of all handlers between two comparisons, and the content of the store at its
// end.
type window struct {
	recorded []map[string][]string
	stored   []string
	before   map[string]bool // the objects at its beginning
	broken   bool            // a fault occurred
}

// lists returns a handler's events by object. After a fault, it depends on chance whether the watch or a
// list shows a change, and so which versions are skipped. Then only the last event of each object
// counts.
func (w window) lists(recorded map[string][]string) map[string][]string {
	if !w.broken {
		return recorded
	}
	ends := map[string][]string{}
	for k, recorded := range recorded {
		end, _, _ := strings.Cut(recorded[len(recorded)-1], ",")
		if end != "is gone" || w.before[k] {
			ends[k] = []string{end}
		}
	}
	return ends
}

// differential plays a plan to one implementation.
func differential(t *testing.T, p plan, construct constructor) (windows []window) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newTwin(t, p, construct, twinIndexers(), twinTransform(p))
		d.start()
		defer d.end()
		time.Sleep(time.Minute) // until both have an initial state

		var now window
		for _, step := range append(p.steps, step{op: settle}) {
			if step.op != settle {
				now.broken = now.broken || !versionlessOps[step.op]
				d.doStep(step)
				continue
			}
			if !d.settle() {
				t.Errorf("it never catches up with the server, which is at %s:\n%v", d.version(), d.trace.String())
				break
			}
			for _, h := range d.recorders {
				now.recorded = append(now.recorded, h.take())
			}
			now.stored = d.stored()
			windows, now = append(windows, now), window{before: map[string]bool{}}
			for k := range d.model.live {
				now.before[k.String()] = true
			}
		}
	})
	return windows
}

// settle ends the faults. It waits until the cache equals the server's state, and the informer is
// watching without a back-off.
func (d *twin) settle() bool {
	d.source.heal()
	began := time.Now()
	for synctest.Wait(); !d.caughtUp() && time.Since(began) < settleTimeHalfOpen; synctest.Wait() {
		time.Sleep(10 * time.Second)
	}
	if !d.caughtUp() {
		return false
	}
	time.Sleep(3 * time.Minute)
	return true
}

func (d *twin) caughtUp() bool {
	store := d.shared.GetStore()
	for k, p := range d.model.live {
		obj, ok, err := store.GetByKey(k.String())
		if err != nil || !ok || markOf(obj.(*pod)) != markOf(p) {
			return false
		}
	}
	return d.shared.HasSynced() && len(store.ListKeys()) == len(d.model.live)
}

func twinIndexers() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"node":               func(obj any) ([]string, error) { return nodeOf(obj.(*pod)), nil },
		"app": func(obj any) ([]string, error) { // no value, or two
			p := obj.(*pod)
			if p.Labels["unindexed"] != "" {
				return nil, nil
			}
			return []string{p.Labels["app"], "node " + p.Spec.NodeName}, nil
		},
	}
}

// twinTransform returns the transform, which every other world has. It may run twice for one object
// (B71: client-go transforms the objects of a streamed list twice).
func twinTransform(p plan) cache.TransformFunc {
	if p.seed%2 == 0 {
		return nil
	}
	return func(obj any) (any, error) {
		if p, ok := obj.(*pod); ok {
			p.Spec.SchedulerName, p.Spec.NodeName = "transformed", "n"
		}
		return obj, nil
	}
}

// newTwinnedPlan draws a world that is played with both implementations.
func newTwinnedPlan(seed uint64) plan {
	p := newPlan(seed)
	p.setup = setup{namespaces: 1, names: p.setup.names, noStream: p.setup.noStream, noCache: p.setup.noCache, bookmarks: p.setup.bookmarks}
	whole := false
	for i := range p.steps {
		s := &p.steps[i]
		if i%6 == 5 { // every other window has no faults
			s.op, whole = settle, !whole
			continue
		}
		if whole {
			s.op, s.n = quiet[int(s.seed%uint64(len(quiet)))], 1+s.n%6
			continue
		}
		if s.op = twinned[int(s.seed%uint64(len(twinned)))]; s.op == failRequests {
			s.n = 1 + s.n%3 // an error that both libraries handle in the same way
		}
	}
	return p
}

// In the same world, through the same interface, client-go's informer and ours deliver the same events,
// and store and index the same objects.
func TestClientgoHandlersGetTheSame(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newTwinnedPlan(seed)
			want := differential(t, p, cache.NewSharedIndexInformer)
			got := differential(t, p, tidecache.NewSharedIndexInformer)
			require.Len(t, got, len(want))
			whole := 0
			for i := range want {
				require.Equal(t, want[i].stored, got[i].stored, "at rest %d of %v", i, p.steps)
				require.Len(t, got[i].recorded, len(want[i].recorded))
				for n, recorded := range want[i].recorded {
					require.Equal(t, want[i].lists(recorded), got[i].lists(got[i].recorded[n]), "handler %d, after rest %d of %v", n, i, p.steps)
					if !want[i].broken {
						whole += len(recorded)
					}
				}
			}
			t.Logf("%d lists of events were compared whole", whole)
		})
	}
}
