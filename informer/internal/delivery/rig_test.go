package delivery

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a processor with a store that the test writes to.
type rig struct {
	*SharedProcessor
	t   *testing.T
	run *Run
}

func newRig(t *testing.T) *rig {
	store, err := indexer.New(indexer.Options{})
	require.NoError(t, err)
	r := &rig{t: t, run: &Run{Context: t.Context()}}
	r.SharedProcessor = New("pods", store, eventlog.New(), func(string, any) {})
	return r
}

// begin starts a run that ends with the test.
func (r *rig) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	r.run.Context = ctx
	r.Start(r.run)
	r.t.Cleanup(func() {
		cancel()
		r.run.Handlers.Wait()
	})
}

// add adds a handler.
func (r *rig) add(to Receiver, o Options) *Registration {
	handler := r.NewRegistration(to, o)
	r.store.Freeze(func(tx *indexer.Tx) { r.Add(tx, handler) })
	return handler
}

// list commits the first full state, of pods at version 1.
func (r *rig) list(names ...string) {
	tx := r.store.Begin()
	defer tx.Commit()
	for _, name := range names {
		tx.Put(0, key(name), pod(name, 1), 1)
	}
	r.StartFeeds(tx.Snapshot())
	r.MarkSynced()
}

// change stores and logs a version of a pod. It publishes the change, but does not wake a handler.
func (r *rig) change(name string, version int) {
	tx := r.store.Begin()
	defer tx.Commit()
	now, old, replaced := tx.Put(0, key(name), pod(name, version), 1)
	e := eventlog.Event{Pair: eventlog.Pair{New: now}, Header: eventlog.Header{Kind: eventlog.Added}}
	if replaced {
		e.Old, e.Kind = old.Object, eventlog.Updated
	}
	r.log.Append(e)
	r.log.Publish()
}

// update calls change, and wakes the handlers.
func (r *rig) update(name string, version int) {
	r.change(name, version)
	r.wakeAll()
	synctest.Wait()
}

// ghostOf returns a weak pointer to a stored pod.
func (r *rig) ghostOf(name string) (g kit.Ghosts) {
	stored, _ := r.store.Stored(key(name))
	g.Watch(stored.(*corev1.Pod))
	return g
}

// deliver makes all due calls of a handler on the test's goroutine.
func (r *rig) deliver(handler *Registration) {
	for handler.deliver(r.t.Context(), r.run) {
		handler.publishProgress()
	}
}

func key(name string) indexer.Key { return indexer.Key{Name: name} }

func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: fmt.Sprint(version)}}
}

// journal is a receiver that records its events. With a gate, each call waits there before it returns.
type journal struct {
	lines []string
	gate  chan struct{}
}

func (j *journal) AtOnce() int                                 { return 1 }
func (j *journal) Context(run context.Context) context.Context { return run }

func (j *journal) CallHandler(b *eventlog.Batch) {
	p, h, _ := b.Next()
	line := "delete"
	if now, ok := p.New.(*corev1.Pod); ok {
		line = now.Name + "@" + now.ResourceVersion
	}
	if h.Is(eventlog.Initial) {
		line = "initial " + line
	}
	if j.lines = append(j.lines, line); j.gate != nil {
		<-j.gate
	}
}

// pass lets n calls return.
func (j *journal) pass(n int) {
	for range n {
		j.gate <- struct{}{}
		synctest.Wait()
	}
}
