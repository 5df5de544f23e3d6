package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// The deeds of worlds in which client-go's informer does what ours does. What
// it loses for good, never notices or tells otherwise is in differs_test.go, as
// far as it shows at this interface. Resyncs are left to the conformance tests:
// client-go's begin anew with each list (D11), so that their number is a matter
// of luck here.
var (
	twinned = []operation{write, write, write, burst, pass, settle, sendBookmark, cutWatches, compact, failRequests, endWatchEarly, duplicateEvents, lateEvents}
	quiet   = []operation{write, write, write, burst, join, leave, pass}
)

// window is what the handlers are told between one rest and the next, and what
// is stored at its end.
type window struct {
	told   []map[string][]string
	stored []string
	before map[string]bool // the objects that were there when it began
	broken bool            // something went wrong meanwhile
}

// lists are what a handler was told of each object. Where something went
// wrong it is a matter of luck what is seen by the watch and what by a list,
// and so which versions are skipped, and who came and went: then it is how it
// ended.
func (w window) lists(told map[string][]string) map[string][]string {
	if !w.broken {
		return told
	}
	ends := map[string][]string{}
	for k, told := range told {
		end, _, _ := strings.Cut(told[len(told)-1], ",")
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
				now.told = append(now.told, h.take())
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

// settle waits until the cache is what the server holds; and then until the
// informer is watching, and does not back off.
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

// twinTransform is that of every other world. It may be run twice (B71).
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

// newTwinnedPlan draws a world for both.
func newTwinnedPlan(seed uint64) plan {
	p := newPlan(seed)
	p.setup = setup{parts: 1, names: p.setup.names, noStream: p.setup.noStream, noCache: p.setup.noCache, bookmarks: p.setup.bookmarks}
	whole := false
	for i := range p.steps {
		s := &p.steps[i]
		if i%6 == 5 { // every other time between two rests nothing goes wrong
			s.op, whole = settle, !whole
			continue
		}
		if whole {
			s.op, s.n = quiet[int(s.seed%uint64(len(quiet)))], 1+s.n%6
			continue
		}
		if s.op = twinned[int(s.seed%uint64(len(twinned)))]; s.op == failRequests {
			s.n = 1 + s.n%3 // an error that both answer alike
		}
	}
	return p
}

// The same world, played to client-go's informer and to ours behind the same
// interface, tells the handlers the same, and is stored and indexed the same.
func TestClientgoIsToldTheSame(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newTwinnedPlan(seed)
			want := differential(t, p, cache.NewSharedIndexInformer)
			got := differential(t, p, informer.NewSharedIndexInformer)
			require.Len(t, got, len(want))
			whole := 0
			for i := range want {
				require.Equal(t, want[i].stored, got[i].stored, "at rest %d of %v", i, p.steps)
				require.Len(t, got[i].told, len(want[i].told))
				for n, told := range want[i].told {
					require.Equal(t, want[i].lists(told), got[i].lists(got[i].told[n]), "handler %d, after rest %d of %v", n, i, p.steps)
					if !want[i].broken {
						whole += len(told)
					}
				}
			}
			t.Logf("%d lists of events were compared whole", whole)
		})
	}
}
