package controllerruntimetest

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// Start starts a manager, which stops with the test. The function that it returns stops the manager earlier, and waits
// for its end. To test a restart, then start a new manager for the same server. Start returns after a second of the
// bubble's time: a manager that is stopped while it starts polls without a pause, which stops the bubble's clock.
func Start(t testing.TB, m ctrl.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	<-time.After(time.Second)
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager failed: %v", err)
		}
		m.GetHTTPClient().CloseIdleConnections()
	})
	t.Cleanup(stop)
	return stop
}

// Quiet waits until all goroutines of the bubble are blocked and the server has had no request for a second of the
// bubble's time. A controller that waits to retry, after an error or by RequeueAfter, counts as quiet.
func Quiet(server *informertest.Server) {
	for before, now := -1, 0; before != now; {
		synctest.Wait()
		before = len(server.Requests())
		<-time.After(time.Second)
		synctest.Wait()
		now = len(server.Requests())
	}
}
