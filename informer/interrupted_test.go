package informer

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A handler is added while the processLoop moves to another goroutine, because an index function
// has ended the first. The handler gets each change once: in the initial state or as an event.
func TestAHandlerThatJoinsAfterAGoexitIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, r := newTestCore(t, Options[*corev1.Pod]{}, 1), &kit.Recorder{}
		require.NoError(t, f.writer.AddIndexes(indexer.Index[any]{Name: "deadly", Append: func(values []string, obj any) []string {
			if obj.(*corev1.Pod).Labels["poison"] != "" {
				runtime.Goexit()
			}
			return values
		}}))
		f.list("10", kit.Pod("a", "1"))
		f.start()
		f.batch = []deltafifo.Delta{deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Added, kit.Pod("b", "12", exits))}
		require.False(t, goexit.Apart(f.applySome))
		reg := newRegistration(f.processor, newClientgoReceiver(r.Handler(), nil), HandlerOptions{})
		require.NoError(t, f.addHandler(reg, false))
		f.applySome()
		require.Equal(t, []string{"initial a@11", "add b@12"}, r.Take())
	})
}

// A store without an informer reports that an index function has ended the goroutine of a write.
func TestAFreeStoreTellsOfAGoexit(t *testing.T) {
	s := newFreeStore(cache.MetaNamespaceKeyFunc, cache.Indexers{"deadly": func(any) ([]string, error) {
		runtime.Goexit()
		return nil, nil
	}})
	for name, write := range map[string]func(){
		"add": func() { _ = s.Add(kit.Pod("a", "1")) },
		"transaction": func() {
			_ = s.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("b", "1")})
		},
		"replace": func() { _ = s.Replace([]any{kit.Pod("c", "1")}, "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s = newFreeStore(cache.MetaNamespaceKeyFunc, s.GetIndexers())
			var told error
			s.failed = func(err error) { told = err }
			require.False(t, goexit.Apart(write))
			require.ErrorIs(t, told, indexer.ErrGoexit)
		})
	}
}
