package informer

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// An index function ends the goroutine in a write section. A handler that is added then gets each change
// made before once: in the initial state or as an event.
func TestAHandlerThatJoinsAfterAGoexitIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, r := newTestCore(t, Options[*corev1.Pod]{}, 1), &kit.Recorder{}
		require.NoError(t, f.Writer().AddIndexes(indexer.Index[any]{Name: "deadly", Append: func(values []string, obj any) []string {
			if obj.(*corev1.Pod).Labels["poison"] != "" {
				runtime.Goexit()
			}
			return values
		}}))
		early := &kit.Recorder{}
		f.register(HandlerFunc[*corev1.Pod](forget[*corev1.Pod]), HandlerOptions{})
		f.receive(&clientgoReceiver{early.Handler(), nil}, HandlerOptions{})
		f.list("10", kit.Pod("a", "1"))
		f.start()
		batch := []deltafifo.Delta{
			deltaOf(deltafifo.Modified, kit.Pod("a", "11")),
			deltaOf(deltafifo.Added, kit.Pod("b", "12", exits)),
			deltaOf(deltafifo.Added, kit.Pod("c", "13")),
		}
		require.False(t, apart(func() { f.ApplySome(batch) }))
		require.Equal(t, "11", f.Writer().Indexer().Version())
		f.receive(&clientgoReceiver{r.Handler(), nil}, HandlerOptions{})
		f.apply(deltaOf(deltafifo.Added, kit.Pod("d", "14")))
		require.Equal(t, []string{"initial a@11", "add d@14"}, r.Take())
		require.Equal(t, []string{"initial a@1", "update a@1 a@11", "add d@14"}, early.Take())
	})
}

// A store without an informer reports that an index function has ended the goroutine of a write, and
// holds no lock.
func TestAFreeStoreTellsOfAGoexit(t *testing.T) {
	for name, write := range map[string]func(s *clientgostore.Free){
		"add": func(s *clientgostore.Free) { _ = s.Add(kit.Pod("a", "1", exits)) },
		"transaction": func(s *clientgostore.Free) {
			_ = s.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("b", "1", exits)})
		},
		"replace": func(s *clientgostore.Free) { _ = s.Replace([]any{kit.Pod("c", "1"), kit.Pod("d", "1", exits)}, "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s := clientgostore.NewFree(cache.MetaNamespaceKeyFunc, cache.Indexers{"labels": byLabels})
			var told error
			s.Failed = func(err error) { told = err }
			require.False(t, apart(func() { write(s) }))
			require.ErrorIs(t, told, ErrExited)
			require.Empty(t, s.List())
			require.NoError(t, s.Add(kit.Pod("e", "1")))
		})
	}
}
