package informer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// looksAt makes an onlooker look at all that an informer shows. An index function must not ask for
// lists: it is called in a write section, which lists wait for.
func looksAt(o *kit.Onlooker, i *informer.Informer[*corev1.Pod], handlers ...informer.Registration) {
	shared := i.Shared()
	o.At(func() { i.Status() })
	o.At(func() { i.Indexer().Get(rig.Named("a")) })
	o.At(func() { _, _, _ = shared.GetStore().GetByKey("default/a") })
	o.At(func() { _, _ = i.Lister().Namespace("default").Get("a") })
	o.At(func() { _ = i.Indexer().Len() })
	o.At(func() { _ = shared.LastSyncResourceVersion() })
	o.At(func() { _ = shared.HasSynced() && shared.IsStopped() })
	o.At(func() { kit.Closed(i.Synced()); kit.Closed(i.Done()) })
	o.At(func() { _, _ = shared.GetIndexer().GetIndexers(), i.Indexer().Indexes() })
	for _, r := range handlers {
		o.At(func() { r.Backlog(); kit.Closed(r.Synced()); kit.Closed(r.Done()) })
	}
	x := i.Inspector()
	o.At(func() {
		i.Status()
		x.Handlers()
		x.Memory()
		x.Recent()
		x.History()
		x.Quarantined()
		x.Decoding()
	})

	lists := func(at func()) { o.At(at, "index function") }
	lists(func() { i.Indexer().Snapshot() })
	lists(func() { i.Indexer().Keys() })
	lists(func() { _, _ = i.Indexer().Lookup(indexer.NamespaceIndex, "default") })
	lists(func() { shared.GetStore().List(); shared.GetStore().ListKeys() })
	lists(func() { _, _ = shared.GetIndexer().ByIndex(cache.NamespaceIndex, "default") })
	lists(func() { _, _ = i.Lister().List(labels.SelectorFromSet(labels.Set{"app": "web"})) })
	lists(func() { x.Indexes(); x.LabelIndexes() })
}

// lookingSource looks in each request.
type lookingSource struct {
	*rig.Script
	o *kit.Onlooker
}

func (s lookingSource) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.o.Look("source")
	return s.Script.List(ctx, o)
}

func (s lookingSource) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.o.Look("source")
	return s.Script.Watch(ctx, o)
}

// onlooking is an informer whose callbacks look at the informer, and fail now and then.
type onlooking struct {
	*informer.Informer[*corev1.Pod]
	s *rig.Script
	o *kit.Onlooker
}

func newOnlooking(t *testing.T, o informer.Options[*corev1.Pod]) *onlooking {
	f := &onlooking{s: rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("poisoned", "2", rig.Sick)), o: &kit.Onlooker{}}
	o.Transform = func(p *corev1.Pod) (*corev1.Pod, error) {
		f.o.Look("transform")
		return rig.FailByLabel(p)
	}
	o.Indexes = []indexer.Index[*corev1.Pod]{{Name: "looking", Append: func(values []string, p *corev1.Pod) []string {
		f.o.Look("index function")
		if p.Labels["unindexed"] != "" {
			panic("on purpose")
		}
		return append(values, p.Name)
	}}}
	o.Resync = time.Minute
	f.Informer = informer.New(rig.SourceOf(lookingSource{f.s, f.o}), o)
	var all []informer.Registration
	for _, delivery := range rig.Deliveries {
		r, err := f.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
			f.o.Look("handler")
			time.Sleep(time.Second) // it lags
		}), informer.HandlerOptions{Delivery: delivery})
		require.NoError(t, err)
		all = append(all, r)
		r, err = f.HandleBatch(func(informer.Batch[*corev1.Pod]) { f.o.Look("batch") }, 10, informer.HandlerOptions{Delivery: delivery})
		require.NoError(t, err)
		all = append(all, r)
	}
	_, err := f.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { panic("on purpose") }), informer.HandlerOptions{})
	require.NoError(t, err)
	_, err = f.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { f.o.Look("client-go's handler") },
		UpdateFunc: func(any, any) { f.o.Look("client-go's handler") },
		DeleteFunc: func(any) { f.o.Look("client-go's handler") },
	})
	require.NoError(t, err)
	looksAt(f.o, f.Informer, all...)
	return f
}

// live lets the informer live through lists, events, failures and resyncs.
func (f *onlooking) live(t *testing.T) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), f.o.Logger()))
	wait, err := f.Start(ctx)
	require.NoError(t, err)
	synctest.Wait()
	f.s.Send(watch.Added, kit.Pod("b", "11", kit.Label("unindexed", "yes")))
	f.s.Send(watch.Modified, kit.Pod("a", "12", kit.Label("app", "web")))
	f.s.Send(watch.Modified, kit.Pod("poisoned", "13", kit.Label("poison", "panic")))
	f.s.Send(watch.Deleted, kit.Pod("b", "14"))
	f.s.Send(watch.Bookmark, kit.Bookmark("15", ""))
	time.Sleep(2 * time.Minute)
	f.s.Fail(errors.New("down"))
	f.s.Expire()
	time.Sleep(time.Minute)
	f.s.Fail(nil)
	f.s.Set("20", kit.Pod("c", "16"))
	time.Sleep(2 * time.Minute)
	require.Equal(t, 1, f.Indexer().Len())
	cancel()
	require.NoError(t, wait())
}

// A program may look at an informer from within each of its callbacks: nothing of a user's is called
// under a lock that a look takes.
func TestAProgramThatLooksAtTheInformer(t *testing.T) {
	kit.EndsSoon(t)
	kit.SurvivePanics(t)
	always := []string{"source", "transform", "index function", "handler", "batch", "client-go's handler"}
	t.Run("with an observer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var f *onlooking
			f = newOnlooking(t, informer.Options[*corev1.Pod]{Observe: func(informer.Event) {
				if f != nil {
					f.o.Look("observer")
				}
			}})
			f.live(t)
			for _, callback := range append(always, "observer") {
				require.NotZero(t, f.o.Looked()[callback], callback)
			}
		})
	})
	t.Run("with a watch error handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newOnlooking(t, informer.Options[*corev1.Pod]{})
			require.NoError(t, f.Shared().SetWatchErrorHandler(func(*cache.Reflector, error) { f.o.Look("watch error handler") }))
			f.live(t)
			for _, callback := range append(always, "watch error handler", "logger") {
				require.NotZero(t, f.o.Looked()[callback], callback)
			}
		})
	})
	t.Run("with a logger", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newOnlooking(t, informer.Options[*corev1.Pod]{})
			f.live(t)
			for _, callback := range append(always, "logger") {
				require.NotZero(t, f.o.Looked()[callback], callback)
			}
		})
	})
}

// A logger may call the informer: no lock of the informer's is held.
func TestALoggerThatCallsTheInformer(t *testing.T) {
	kit.EndsSoon(t)
	t.Run("with its first line", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			i, o := informer.New(rig.SourceOf(rig.NewScript("10")), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{{
				Name: "failing", Append: func([]string, *corev1.Pod) []string { panic("on purpose") },
			}}}), &kit.Onlooker{}
			klog.SetLoggerWithOptions(o.Logger(), klog.ContextualLogger(true))
			defer klog.SetLogger(klog.Logger{}) // as in TestMain
			ctx, cancel := context.WithCancel(t.Context())
			wait := func() error { return nil }
			var called atomic.Bool
			o.At(func() {
				if called.CompareAndSwap(false, true) {
					var err error
					wait, err = i.Start(ctx)
					require.NoError(t, err)
				}
			})
			require.NoError(t, i.Shared().GetIndexer().Add(kit.Pod("a", "1"))) // which logs that it is not indexed
			require.True(t, i.Status().Running)
			cancel()
			require.NoError(t, wait())
		})
	})
	t.Run("with the line about resyncs", func(t *testing.T) {
		i, o := informer.New(rig.SourceOf(rig.NewScript("10")), informer.Options[*corev1.Pod]{Observe: rig.Observed}).Shared(), &kit.Onlooker{}
		add := func() {
			period, logger := time.Minute, o.Logger()
			_, err := i.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{}, cache.HandlerOptions{ResyncPeriod: &period, Logger: &logger})
			require.NoError(t, err)
		}
		var called atomic.Bool
		o.At(func() {
			if called.CompareAndSwap(false, true) {
				add()
			}
		})
		add()
		require.True(t, called.Load())
	})
}
