package bench

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// flowRate is the number of events per second during a measurement.
const flowRate = 10_000

// flow changes pods at a constant rate. It records when events are sent and when they arrive at a
// handler.
type flow struct {
	b       testing.TB
	changer *changer

	mu         sync.Mutex
	sent, came []time.Time
	awaited    int           // the number of arrivals to wait for
	reached    chan struct{} // closed after the awaited arrivals; nil if nothing waits
}

func newFlow(b testing.TB, list *corev1.PodList) *flow {
	return &flow{b: b, changer: &changer{list: list}}
}

// arrived records an arrival.
func (f *flow) arrived() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.came = append(f.came, time.Now())
	if f.reached != nil && len(f.came) >= f.awaited {
		close(f.reached)
		f.reached = nil
	}
}

func (f *flow) send(to *feedWatch) {
	f.mu.Lock()
	e := f.changer.next()
	f.sent = append(f.sent, time.Now())
	f.mu.Unlock()
	to.events <- e
}

// during sends events while work runs, and returns after the last event has arrived. After a late
// wake-up it sends all overdue events at once.
func (f *flow) during(to *feedWatch, work func()) {
	start, sent := time.Now(), 0
	each(func(int) {
		for due := int(time.Since(start).Seconds() * flowRate); sent <= due; sent++ {
			f.send(to)
		}
	}, work)
	f.await(0)
}

// await waits until all sent events, and more events after them, have arrived.
func (f *flow) await(more int) {
	f.mu.Lock()
	f.awaited = len(f.sent) + more
	if len(f.came) >= f.awaited {
		f.mu.Unlock()
		return
	}
	reached := make(chan struct{})
	f.reached = reached
	f.mu.Unlock()
	await(f.b, reached)
}

// longest returns the longest time between sending an event and its arrival.
func (f *flow) longest() (longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, came := range f.came {
		longest = max(longest, came.Sub(f.sent[i]))
	}
	return longest
}

func TestFlowKeepsItsRateAndAwaitsTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlow(t, podList(10))
		w := &feedWatch{events: make(chan watch.Event)}
		const way = 50 * time.Microsecond
		go func() {
			for range w.events {
				time.Sleep(way)
				f.arrived()
			}
		}()

		f.during(w, func() { time.Sleep(time.Second) })

		require.InDelta(t, flowRate, len(f.sent), 2)
		require.Len(t, f.came, len(f.sent))
		require.GreaterOrEqual(t, f.longest(), way)
		w.Stop()
	})
}
