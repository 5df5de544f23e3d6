package bench

import (
	"runtime"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
)

// BenchmarkMemory measures an idle informer's memory per object, without the objects.
func BenchmarkMemory(b *testing.B) {
	list := podList(*objects)
	copies := sizeOfCopies(list)
	byEach(b, "idle", everyone, func(b *testing.B, impl string) {
		count(b, "B/object", func() float64 {
			before := heapAtRest()
			f := newFeed(list)
			s := start(b, newPods(impl, f), newCounter(tally{adds: len(list.Items)}))
			s.awaitSync(f.opened)
			extra := heapAtRest() - before - copies
			runtime.KeepAlive(list)
			s.stop()
			return extra / float64(len(list.Items))
		})
	})
}

// BenchmarkStuck measures an informer's memory, without the objects, while one of its two handlers does
// not return from its first update: per event or, with Latest delivery, per object. client-go and
// tidemark's client-go API have no Latest.
func BenchmarkStuck(b *testing.B) {
	const rounds = 5 // the events are repeated, because as many new objects would not fit into memory
	list := podList(perGroup)
	copies := sizeOfCopies(list) // of the objects before the events, which handlers get as old objects
	events := podEvents(perGroup)
	n := rounds * len(events)
	byEach(b, "every", everyone, func(b *testing.B, impl string) {
		count(b, "B/event", func() float64 { return stuck(b, impl, informer.Every, events, n, copies) / float64(n) })
	})
	byEach(b, "latest", []string{clientgo, typed}, func(b *testing.B, impl string) {
		count(b, "B/object", func() float64 { return stuck(b, impl, informer.Latest, events, n, copies) / float64(perGroup) })
	})
}

func stuck(b *testing.B, impl string, delivery informer.Delivery, events []watch.Event, n int, copies float64) float64 {
	list := podList(perGroup)
	free, held := newCounter(tally{adds: perGroup, updates: n}), newCounter(tally{adds: perGroup, updates: n})
	if delivery == informer.Latest && impl == typed {
		held.delivery, held.want.updates = delivery, 1+min(perGroup, n-1) // the first update, and the latest of each object
	}
	var once sync.Once
	entered, release := make(chan struct{}), make(chan struct{})
	held.each = func() {
		once.Do(func() {
			close(entered)
			<-release
		})
	}
	before := heapAtRest()
	f := newFeed(list)
	s := start(b, newPods(impl, f), free, held)
	w := s.awaitSync(f.opened)
	w.play(events, 1)
	<-entered
	go func() {
		w.play(events[1:], len(events)-1)
		w.play(events, n-len(events))
	}()
	await(b, free.updated)

	extra := heapAtRest() - before - copies

	runtime.KeepAlive(list)
	close(release)
	await(b, held.updated)
	s.stop()
	return max(extra, 1)
}

// BenchmarkGoroutines counts the goroutines of an idle informer with ten handlers. The source has no
// goroutines.
func BenchmarkGoroutines(b *testing.B) {
	list := podList(10)
	byEach(b, "idle", everyone, func(b *testing.B, impl string) {
		count(b, "goroutines", func() float64 {
			before := goroutinesAtRest()
			f := newFeed(list)
			s := start(b, newPods(impl, f), newCounters(10, tally{adds: len(list.Items)})...)
			s.awaitSync(f.opened)
			n := goroutinesAtRest() - before
			s.stop()
			return float64(n)
		})
	})
}

// BenchmarkIdle measures the memory, without the objects, and the goroutines of 200 informers, each with
// one handler and few objects, as in a large operator.
func BenchmarkIdle(b *testing.B) {
	const informers = 200
	list := podList(10)
	copies := sizeOfCopies(list)
	byEach(b, "200", everyone, func(b *testing.B, impl string) {
		goroutines := 0.0
		count(b, "B/program", func() float64 {
			running, before := goroutinesAtRest(), heapAtRest()
			all := make([]*started, informers)
			for k := range all {
				f := newFeed(list)
				f.buffer = 0 // a buffer would be larger than everything else
				all[k] = start(b, newPods(impl, f), newCounter(tally{adds: len(list.Items)}))
				all[k].awaitSync(f.opened)
			}
			goroutines += float64(goroutinesAtRest() - running)
			extra := heapAtRest() - before - informers*copies
			runtime.KeepAlive(list)
			for _, s := range all {
				s.stop()
			}
			return extra
		})
		b.ReportMetric(goroutines/float64(b.N), "goroutines")
	})
}
