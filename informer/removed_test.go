package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// stuckHandler is a handler whose calls wait for the test, and a function that removes it.
type stuckHandler struct {
	gate   chan struct{}
	remove func()
}

func (h *stuckHandler) told() { <-h.gate }

// pass lets n calls return, one by one.
func (h *stuckHandler) pass(n int) {
	for range n {
		h.gate <- struct{}{}
		synctest.Wait()
	}
}

const resyncs = time.Hour

// apis are the ways to register a handler. Each makes an informer and adds a handler that is
// resynced every hour.
var apis = map[string]func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer{
	"Handle, every change": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		return h.register(t, New(sourceOf(s), Options[*corev1.Pod]{Observe: observed}), Every)
	},
	"Handle, the latest": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		return h.register(t, New(sourceOf(s), Options[*corev1.Pod]{Observe: observed}), Latest)
	},
	"Handle, of a type known at run time": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		shared := JoinShared(lateOf(s), reflect.TypeFor[*corev1.Pod](), Options[any]{Observe: observed})
		i, ok := As[*corev1.Pod](shared)
		require.True(t, ok)
		return h.register(t, i, Every)
	},
	"AddEventHandler": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, resyncs, nil)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { h.told() },
			UpdateFunc: func(any, any) { h.told() },
			DeleteFunc: func(any) { h.told() },
		})
		require.NoError(t, err)
		h.remove = func() { require.NoError(t, i.RemoveEventHandler(r)) }
		return i
	},
}

func (h *stuckHandler) register(t *testing.T, i *Informer[*corev1.Pod], d Delivery) cache.SharedIndexInformer {
	r, err := i.Handle(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { h.told() }), HandlerOptions{Delivery: d, Resync: resyncs})
	require.NoError(t, err)
	h.remove = r.Stop
	return i.Shared()
}

// A handler that is removed while it is stuck holds the objects of the event in its call, but no
// earlier or later objects.
func TestAHandlerThatIsStuckAndRemovedHoldsOneEvent(t *testing.T) {
	for api := range apis {
		for _, where := range []string{"the initial state", "the log", "a resync"} {
			for _, company := range []string{"alone", "beside another handler"} {
				t.Run(fmt.Sprintf("%s, in %s, %s", api, where, company), func(t *testing.T) {
					bubble(t, func(t *testing.T) { stuckAndRemoved(t, api, where, company) })
				})
			}
		}
	}
}

func stuckAndRemoved(t *testing.T, api, where, company string) {
	const objects = 2*burst + 2
	var pods []*corev1.Pod
	for n := range objects {
		pods = append(pods, kit.Pod(fmt.Sprint(n), "1"))
	}
	s, h := newScript("10", pods...), &stuckHandler{gate: make(chan struct{})}
	defer close(h.gate)
	i := apis[api](t, s, h)
	if company != "alone" {
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err)
	}
	startClientgo(t, i)
	var g ghosts
	for _, obj := range i.GetStore().List() {
		g.watch(obj.(*corev1.Pod))
	}
	version := 10
	update := func() {
		for n := range objects {
			version++
			s.Send(watch.Modified, g.watch(kit.Pod(fmt.Sprint(n), fmt.Sprint(version))))
		}
		synctest.Wait()
	}
	if where != "the initial state" {
		h.pass(objects)
	}
	switch where {
	case "the log":
		update()
	case "a resync":
		time.Sleep(resyncs)
		synctest.Wait()
	}
	h.pass(2) // the handler is now stuck in the middle of a burst
	h.remove()
	update()
	update()
	g = g[:len(g)-objects] // the last objects are in the store
	require.LessOrEqual(t, g.left(), 2, "the old and the new object of one event")
	runtime.KeepAlive(h)
}

// Whatever a registration is doing when it is stopped, at most one more call follows, and other
// handlers get every change.
func TestHandlersStopAtAnyMoment(t *testing.T) {
	for _, delivery := range deliveries {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		var told atomic.Int64
		want := int64(1)
		stays := f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { told.Add(1) }), HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		for n := range 100 {
			var after atomic.Int64
			var ended atomic.Bool
			leaves := f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
				if ended.Load() {
					after.Add(1)
				}
			}), HandlerOptions{Delivery: delivery, Resync: time.Nanosecond})
			var stopping sync.WaitGroup
			stopping.Go(func() {
				for range n * 30 {
					runtime.Gosched()
				}
				leaves.Stop()
				ended.Store(true)
			})
			for range 50 {
				want++
				f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(want))))
			}
			stopping.Wait()
			<-leaves.Done()
			require.LessOrEqual(t, after.Load(), int64(1))
			require.Zero(t, leaves.Backlog())
		}
		f.settled(stays)
		require.Equal(t, want, told.Load())
	}
}
