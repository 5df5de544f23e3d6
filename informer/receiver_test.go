package informer

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func batchOf(events ...eventlog.Event) *eventlog.Batch {
	b := eventlog.NewBatch(len(events))
	for _, e := range events {
		b.Add(e)
	}
	return b
}

func TestAReceiverWhoseHandlerFailsHoldsNothing(t *testing.T) {
	for how, fail := range map[string]func(){"panics": func() { panic("on purpose") }, "ends its goroutine": runtime.Goexit} {
		t.Run(how, func(t *testing.T) {
			var g kit.Ghosts
			r := receiverOf[*corev1.Pod](HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { fail() }))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }() // recovers nil after a Goexit
				r.CallHandler(batchOf(eventlog.Event{Pair: eventlog.Pair{New: g.Watch(kit.Pod("a", "1"))}, Header: eventlog.Header{Kind: eventlog.Added}}))
			}()
			<-ended
			require.Zero(t, g.Left())
			runtime.KeepAlive(r)
		})
	}
}

// Calls of a handler do not allocate, whatever the handler's type is.
func TestHandlersAreCalledWithoutAllocation(t *testing.T) {
	a, b := kit.Pod("a", "1"), kit.Pod("a", "2")
	for name, to := range map[string]engine.Receiver{
		"a handler of pointers":    receiverOf[*corev1.Pod](HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {})),
		"functions of pointers":    receiverOf[*corev1.Pod](Funcs[*corev1.Pod]{Updated: func(_, _ *corev1.Pod) {}}),
		"a handler of interfaces":  receiverOf[metav1.Object](HandlerFunc[metav1.Object](func(Change[metav1.Object]) {})),
		"functions of interfaces":  receiverOf[metav1.Object](Funcs[metav1.Object]{Updated: func(_, _ metav1.Object) {}}),
		"a function of keys":       &keyReceiver{handle: func(indexer.Key) {}},
		"a handler of client-go's": &clientgoReceiver{cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {}}, nil},
	} {
		for _, e := range []eventlog.Event{
			{Pair: eventlog.Pair{New: a}, Header: eventlog.Header{Kind: eventlog.Added}},
			{Pair: eventlog.Pair{Old: a, New: b}, Header: eventlog.Header{Kind: eventlog.Updated}},
			{Pair: eventlog.Deletion(b, a), Header: eventlog.Header{Kind: eventlog.Deleted}},
		} {
			const runs = 100
			batch := batchOf(slices.Repeat([]eventlog.Event{e}, runs+1)...)
			require.Zero(t, testing.AllocsPerRun(runs, func() { to.CallHandler(batch) }), name)
		}
	}
}

// A function of keys is called once for each event. An event whose object shows no key is passed over.
func TestAFunctionOfKeysPassesOverWhatShowsNoKey(t *testing.T) {
	var keys []indexer.Key
	to := &keyReceiver{handle: func(key indexer.Key) { keys = append(keys, key) }}
	for _, obj := range []any{kit.Pod("a", "1"), "no object"} {
		to.CallHandler(batchOf(eventlog.Event{Pair: eventlog.Pair{New: obj}, Header: eventlog.Header{Kind: eventlog.Added}}))
	}
	require.Equal(t, []indexer.Key{{Namespace: "default", Name: "a"}}, keys)
}
