package faults

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestScenario_ChurnByManyWriters(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(200, 10_000) // few pods, so that each is written several times
	s.createPods(n)
	m := s.pods(s.cluster.Config(), podSource)
	slow, stuck, late, leaving := newView[*corev1.Pod]("slow"), newView[*corev1.Pod]("stuck"), newView[*corev1.Pod]("late"), newView[*corev1.Pod]("leaving")
	slow.delay, stuck.stuck = time.Millisecond, make(chan struct{})
	m.handle(slow, informer.HandlerOptions{})
	lagging := m.handle(stuck, informer.HandlerOptions{Delivery: informer.Latest})
	left := m.handle(leaving, informer.HandlerOptions{})
	for i := range 2 {
		m.handle(newView[*corev1.Pod](fmt.Sprint("other ", i)), informer.HandlerOptions{})
	}
	m.start()
	release := sync.OnceFunc(func() { close(stuck.stuck) })
	t.Cleanup(release) // otherwise the informer could not end
	m.synced()

	half := size(4*time.Second, 30*time.Second)
	c := s.churn(16, n, 0)
	s.sleep(half)
	m.handle(late, informer.HandlerOptions{})
	left.Stop()
	<-left.Done()
	m.views = slices.DeleteFunc(m.views, func(v *view[*corev1.Pod]) bool { return v == leaving })
	require.Empty(t, leaving.Problems())
	s.sleep(half)
	c.end()
	// The handler is stuck in its first call, so that the rest of the initial state waits, too. Events
	// are merged when a segment of the log (256 events) is full and the backlog exceeds 1,024 events.
	require.LessOrEqual(t, lagging.Backlog(), 2*n+1024+256, "the backlog of a stuck handler is one change per pod")
	release()

	s.heal()
	s.note = fmt.Sprintf("%d writes", c.written.Load())
	m.settle()
	s.budget(1)
}

func TestScenario_ConnectionsCutEverySecond(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	m := s.watchPods(harness.Via(s.cluster.Config(), proxy.Address()))
	m.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	cuts := size(8, 60)
	for range cuts {
		m.progresses()
		proxy.Cut()
	}
	c.end()
	s.heal()
	s.note = fmt.Sprintf("%d cuts, %d writes", cuts, c.written.Load())
	m.settle()
	s.budget(2 + 2*cuts)
	require.Zero(t, m.informer.Status().Relists, "a broken watch resumes at its last version")
}

func TestScenario_ConnectionsBreakInTheMiddle(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	m := s.watchPods(harness.Via(s.cluster.Config(), proxy.Address()))
	m.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	breaks := size(6, 40)
	for i := range breaks {
		m.progresses()
		proxy.Truncate(1000 + 777*i)
	}
	c.end()
	s.heal()
	s.note = fmt.Sprintf("%d breaks", breaks)
	m.settle()
	s.budget(2 + 2*breaks)
	require.Zero(t, m.informer.Status().Relists)
}

// The connection is cut three times during the first list, before the list succeeds.
func TestScenario_InitialStateCut(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	proxy.Delay(100 * time.Millisecond)
	m := s.watchPods(harness.Via(s.cluster.Config(), proxy.Address()))
	for range 3 {
		s.eventually("it connects", func() error {
			if proxy.Cut() == 0 {
				return errNone
			}
			return nil
		})
	}
	proxy.Delay(0)
	s.heal()
	m.settle()
	s.budget(12)
}

func TestScenario_NetworkStallsAndCrawls(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	m := s.watchPods(harness.Via(s.cluster.Config(), proxy.Address()))
	m.synced()
	c := s.churn(4, somePods, 5*time.Millisecond)
	proxy.Delay(50 * time.Millisecond)
	s.sleep(size(3*time.Second, 20*time.Second))
	proxy.Stall()
	s.sleep(size(4*time.Second, 20*time.Second))
	proxy.Resume()
	proxy.Delay(0)
	c.end()
	s.heal()
	m.settle()
	s.budget(3)
	require.Zero(t, m.informer.Status().Relists)
}

// The connection is open for the client and closed for the server. The transport's pings detect this,
// and then the informer has to reconnect.
func TestScenario_HalfOpenConnection(t *testing.T) {
	if !*full { // client-go's default times are 30 s and 15 s
		t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "4")
		t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "6")
	}
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	m := s.watchPods(harness.Via(s.cluster.Config(), proxy.Address()))
	m.watching()
	proxy.HalfOpen()
	s.heal()
	s.touchPods(0, 50, "half")
	s.deletePods(50, 100)
	m.settle()
	// A lost connection ends the stream with an error, and the informer relists (B56). The transport may
	// abandon the connection again if the server has no time for a ping.
	s.budget(5)
	require.LessOrEqual(t, m.informer.Status().Relists, 2)
}

// The server closes each watch after 5 to 10 seconds. A client's timeoutSeconds would override this, so
// the source removes it.
func TestScenario_ShortWatches(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{Flags: []string{"--min-request-timeout=5"}})
	s.createPods(somePods)
	m := s.pods(s.cluster.Config(), func(client kubernetes.Interface) reflector.Source {
		source := podSource(client)
		source.Tweak = func(o *metav1.ListOptions) { o.TimeoutSeconds = nil }
		return source
	})
	m.start()
	m.synced()
	c := s.churn(4, somePods, 5*time.Millisecond)
	closed := size(2, 6)
	s.eventually("watches are closed", func() error {
		if m.requests.Total() <= closed {
			return errNone
		}
		return nil
	})
	c.end()
	s.heal()
	m.settle()
	s.budget(closed + 4)
	require.Zero(t, m.informer.Status().Relists)
	require.Zero(t, m.informer.Status().Errors)
}
