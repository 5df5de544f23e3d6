package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// oneIn is the number of objects per changed object in a relist.
const oneIn = 100

// BenchmarkSync measures the time from making an informer to the last add of the initial state.
func BenchmarkSync(b *testing.B) {
	list := podList(*objects)
	byEach(b, "memory", everyone, func(b *testing.B, impl string) {
		m := newSection(b)
		for range m.rounds {
			m.begin()
			s := start(b, newPods(impl, newFeed(list)), newCounter(tally{adds: len(list.Items)}))
			s.awaitAdds()
			m.end()

			first := &list.Items[0]
			require.NotSame(b, first, s.get(indexer.Key{Namespace: first.Namespace, Name: first.Name}), "the store holds an item of the list, and with it the whole page")
			s.stop()
		}
	})
}

// BenchmarkRelist measures the time from the end of a watch with 410 to the last event of the
// difference. client-go waits before it lists, so that only the CPU times can be compared. Its handlers
// get an update of each object.
func BenchmarkRelist(b *testing.B) {
	list := podList(*objects)
	next, changed := later(list, oneIn)
	byEach(b, "memory", everyone, func(b *testing.B, impl string) {
		m := newSection(b)
		for range m.rounds {
			f := newFeed(list)
			s := start(b, newPods(impl, f), newCounter(tally{adds: len(list.Items), updates: updatesOf(impl, changed, len(list.Items))}))
			w := s.awaitSync(f.opened)
			f.answer(next)
			m.begin()
			w.expire()
			s.awaitUpdates()
			m.end()

			await(b, f.opened) // await it before the stop, because the informer is about to open the watch
			s.stop()
		}
	})
}

// updatesOf returns the number of updates in a relist: client-go updates all objects.
func updatesOf(impl string, changed, all int) int {
	if impl == clientgo {
		return all
	}
	return changed
}

// BenchmarkRelistPeak measures the peak memory use during a relist, as a multiple of the use before. The
// source makes new objects each time, and keeps none.
func BenchmarkRelistPeak(b *testing.B) {
	pods := populate(*objects)
	for _, name := range []string{"pages", "stream"} {
		byEach(b, name, everyone, func(b *testing.B, impl string) {
			count(b, "peak/steady", func() float64 { return peak(b, impl, newPaged(pods, name == "stream")) })
		})
	}
}

func peak(b *testing.B, impl string, from *paged) float64 {
	changed := (from.pods.n + oneIn - 1) / oneIn
	before := heapAtRest()
	s := start(b, newPods(impl, from), newCounter(tally{adds: from.pods.n, updates: updatesOf(impl, changed, from.pods.n)}))
	w := s.awaitSync(from.opened)
	steady := heapAtRest() - before
	from.second.Store(true)

	most := peakWhile(func() {
		w.expire()
		s.awaitUpdates()
	}) - before

	await(b, from.opened) // await it before the stop, because the informer is about to open the watch
	s.stop()
	return most / steady
}

// BenchmarkJoin measures the longest time of an event to the first handler, while a second handler is
// added and gets the adds of all objects.
func BenchmarkJoin(b *testing.B) {
	const aside = 100 // the number of events before and after the second handler is added
	list := podList(*objects)
	want := tally{adds: len(list.Items)}
	byEach(b, "memory", everyone, func(b *testing.B, impl string) {
		m := newSection(b)
		var longest time.Duration
		for range b.N {
			fl := newFlow(b, list)
			first, late := newCounter(want), newCounter(want)
			first.each, first.more, late.more = fl.arrived, true, true
			f := newFeed(list)
			s := start(b, newPods(impl, f), first)
			w := s.awaitSync(f.opened)
			m.begin()
			fl.during(w, func() {
				fl.await(aside)
				s.join(late)
				await(b, late.added)
				fl.await(aside)
			})
			m.end()

			longest += fl.longest()
			s.stop()
		}
		b.ReportMetric(float64(longest)/float64(b.N), "longest-ns/op")
	})
}

// resyncPeriod is the shortest period that client-go accepts.
const resyncPeriod = time.Second

// BenchmarkResync measures the CPU time of a resync for one of eight handlers. It is the CPU time of the
// process between the ends of two resyncs, during which nothing else happens. The other handlers must
// get no events.
func BenchmarkResync(b *testing.B) {
	const handlers = 8
	list := podList(*objects)
	byEach(b, "memory", everyone, func(b *testing.B, impl string) {
		count(b, "cpu-ns/op", func() float64 {
			all := newCounters(handlers, tally{adds: len(list.Items)})
			var ends [2]time.Duration
			all[0].timeResyncs(len(list.Items), &ends)
			runtime.GC()
			s := start(b, newResyncingPods(impl, newFeed(list)), all...)
			s.awaitAdds()
			s.awaitUpdates()
			s.stop()
			return float64(ends[1] - ends[0])
		})
	})
}

// timeResyncs makes a counter expect two resyncs, and record the CPU time at the end of each one.
func (c *counter) timeResyncs(objects int, ends *[2]time.Duration) {
	c.resync, c.more, c.want.updates = resyncPeriod, true, len(ends)*objects
	c.each = func() {
		if n := c.updates + 1; n%objects == 0 && n <= c.want.updates {
			ends[n/objects-1] = cpuTime()
		}
	}
}

// BenchmarkReplace measures the 99th percentile of Get while newer objects replace all objects. The
// stores of client-go's API have Replace. For the typed API, an informer relists.
func BenchmarkReplace(b *testing.B) {
	first := podList(*objects)
	second, _ := later(first, 1)
	q := newQuestions(b, first)
	byEach(b, "p99", everyone, func(b *testing.B, impl string) {
		m := newSection(b)
		var calls latencies
		replacing := map[string]func() latencies{
			clientgo: func() latencies {
				return replace(m, cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace()), q, first, second)
			},
			clientgoAPI: func() latencies {
				return replace(m, tidecache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace()), q, first, second)
			},
			typed: func() latencies { return relistAndGet(m, q, first, second) },
		}[impl]
		var p99 time.Duration
		for range b.N {
			calls = replacing()
			p99 += calls.quantile(0.99)
		}
		b.ReportMetric(float64(p99)/float64(b.N), "p99-ns/op")
	})
}

// replace puts the first list into a store, and measures Get while the second list replaces it.
func replace(m *section, store cache.Store, q *questions, lists ...*corev1.PodList) (calls latencies) {
	for n, list := range lists {
		items := make([]any, len(list.Items))
		for i := range list.Items {
			items[i] = &list.Items[i]
		}
		replace := func() { require.NoError(m.b, store.Replace(items, list.ResourceVersion)) }
		if n == 0 {
			replace()
			continue
		}
		m.begin()
		calls = callWhile(func(i int) {
			if _, ok, err := store.GetByKey(q.spelled[i%len(q.spelled)]); !ok || err != nil {
				m.b.Error("an object is missing", err)
			}
		}, replace)
		m.end()
	}
	return calls
}

// relistAndGet measures Get while an informer with the first list relists and gets the second list.
func relistAndGet(m *section, q *questions, first, second *corev1.PodList) latencies {
	f := newFeed(first)
	s := start(m.b, newPods(typed, f), newCounter(tally{adds: len(first.Items), updates: len(first.Items)}))
	w := s.awaitSync(f.opened)
	pods := s.subject.(own[*corev1.Pod])
	f.answer(second)
	m.begin()
	calls := callWhile(func(i int) {
		if _, ok := pods.Indexer().Get(q.keys[i%len(q.keys)]); !ok {
			m.b.Error("an object is missing")
		}
	}, func() {
		w.expire()
		require.NoError(m.b, pods.WaitFor(m.b.Context(), &second.Items[len(second.Items)-1]))
	})
	m.end()

	s.awaitUpdates()
	s.stop()
	return calls
}
