package informer_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// stuckHandler is a handler whose calls wait for the test, and a function that removes it.
type stuckHandler struct {
	gate   chan struct{}
	remove func()
}

func (h *stuckHandler) recorded() { <-h.gate }

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
		return h.register(t, informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), informer.Every)
	},
	"Handle, the latest": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		return h.register(t, informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), informer.Latest)
	},
	"Handle, of a type known at run time": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		shared := informer.JoinShared(rig.LateOf(s), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Observe: rig.Observed})
		i, ok := informer.As[*corev1.Pod](shared)
		require.True(t, ok)
		return h.register(t, i, informer.Every)
	},
	"AddEventHandler": func(t *testing.T, s kit.Source, h *stuckHandler) cache.SharedIndexInformer {
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, resyncs, nil)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { h.recorded() },
			UpdateFunc: func(any, any) { h.recorded() },
			DeleteFunc: func(any) { h.recorded() },
		})
		require.NoError(t, err)
		h.remove = func() { require.NoError(t, i.RemoveEventHandler(r)) }
		return i
	},
}

func (h *stuckHandler) register(t *testing.T, i *informer.Informer[*corev1.Pod], d informer.Delivery) cache.SharedIndexInformer {
	r, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { h.recorded() }), informer.HandlerOptions{Delivery: d, Resync: resyncs})
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
					synctest.Test(t, func(t *testing.T) { stuckAndRemoved(t, api, where, company) })
				})
			}
		}
	}
}

func stuckAndRemoved(t *testing.T, api, where, company string) {
	const objects = 2*delivery.Burst + 2
	var pods []*corev1.Pod
	for n := range objects {
		pods = append(pods, kit.Pod(fmt.Sprint(n), "1"))
	}
	s, h := rig.NewScript("10", pods...), &stuckHandler{gate: make(chan struct{})}
	defer close(h.gate)
	i := apis[api](t, s, h)
	if company != "alone" {
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err)
	}
	startClientgo(t, i)
	var g kit.Ghosts
	for _, obj := range i.GetStore().List() {
		g.Watch(obj.(*corev1.Pod))
	}
	version := 10
	update := func() {
		for n := range objects {
			version++
			s.Send(watch.Modified, g.Watch(kit.Pod(fmt.Sprint(n), fmt.Sprint(version))))
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
	require.LessOrEqual(t, g.Left(), 2, "the old and the new object of one event")
	runtime.KeepAlive(h)
}
