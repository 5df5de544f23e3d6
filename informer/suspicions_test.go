package informer

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// An audit reads the fences between two write sections, while the processLoop begins a replacement outside of one.
func TestFencesMayBeReadWhileAListBegins(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("1", kit.Pod("a", "1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			f.Writer().Freeze(func(*indexer.Tx) {
				if f.Fences() > 0 {
					t.Error("there is no own write")
				}
			})
		}
	}()
	for n := range 100 {
		f.list(strconv.Itoa(n+2), kit.Pod("a", "1"))
	}
	<-done
}
