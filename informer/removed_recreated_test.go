package informer

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A handler that is removed while it is stuck in the delete of a recreated object does not hold the
// new object, whose add it will not get.
func TestAHandlerRemovedInTheMidstOfARecreationHoldsItsDelete(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
			r := f.register(h, HandlerOptions{Delivery: delivery})
			f.start()
			defer h.open()
			f.list("1", kit.Pod("a", "1", kit.UID("one")))
			synctest.Wait()
			h.pass()
			var other ghosts
			f.apply(deltaOf(deltafifo.Modified, other.watch(kit.Pod("a", "2", kit.UID("two")))))
			require.Equal(t, []string{"initial a@1", "lost a@1"}, h.take(), "and it is stuck in the second")
			r.Stop()
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two")))) // replaces it
			require.Zero(t, other.left())
			runtime.KeepAlive(r)
		})
	}
}
