package engine_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// testCore is a core without processLoop and reflectors: the test applies deltas itself, and the
// handlers run.
type testCore struct {
	*engine.Core
	view *informer.Informer[*corev1.Pod]
	t    *testing.T
	in   *engine.Sink // of source 0
}

func newTestCore(t *testing.T, o informer.Options[*corev1.Pod], sources int) *testCore {
	return newTestCoreOf(t, o, sources, podDecoder{})
}

// newTestCoreOf is newTestCore, for packed pods that a decoder decodes.
func newTestCoreOf(t *testing.T, o informer.Options[*corev1.Pod], sources int, d pack.Decoder) *testCore {
	silent := make([]reflector.Source, sources)
	for i := range silent {
		silent[i] = rig.SourceOf(rig.Silent{})
	}
	if o.Observe == nil {
		o.Observe = rig.Observed
	}
	i := informer.Join(silent, o)
	inside := coreOf(i)
	f := &testCore{inside, i, t, inside.Sink(0)}
	f.in.Connect(keeper.Reflector{Encoded: d, AskForBookmark: func() {}, Foreign: func() (uint64, string) { return 0, "" }})
	return f
}

// podDecoder decodes packed pods.
type podDecoder struct{}

func (podDecoder) Type() reflect.Type { return reflect.TypeFor[*corev1.Pod]() }

func (podDecoder) Decode(data []byte, _ pack.Form) (any, error) {
	p := &corev1.Pod{}
	err := p.Unmarshal(data)
	return p, err
}

func (d podDecoder) Meta(data []byte, f pack.Form) (any, error) { return d.Decode(data, f) }

// podsIn returns the typed view of a core's store.
func podsIn(c *engine.Core) *indexer.Indexer[*corev1.Pod] {
	return indexer.View[*corev1.Pod](c.Writer().Indexer())
}

// start lets the handlers run until the test ends.
func (f *testCore) start() {
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(f.t, f.Begin(ctx))
	f.t.Cleanup(func() {
		cancel()
		f.Finish()
	})
}

func (f *testCore) apply(deltas ...deltafifo.Delta) {
	f.Pack(deltas)
	f.Apply(deltas)
}

// list applies a replacement of source 0.
func (f *testCore) list(version string, pods ...*corev1.Pod) {
	f.beginReplace()
	for _, p := range pods {
		f.apply(deltaOf(deltafifo.Added, p))
	}
	f.commitReplace(version)
}

func (f *testCore) beginReplace() { f.apply(deltafifo.Delta{Op: deltafifo.Begin}) }

func (f *testCore) commitReplace(version string) {
	f.apply(deltafifo.Delta{Op: deltafifo.Commit, Version: version})
}

// register adds a handler.
func (f *testCore) register(h informer.Handler[*corev1.Pod], o informer.HandlerOptions) informer.Registration {
	r, err := f.view.Handle(h, o)
	require.NoError(f.t, err)
	return r
}

// add adds a handler through client-go's API.
func (f *testCore) add(h cache.ResourceEventHandler) {
	_, err := f.view.Shared().AddEventHandler(h)
	require.NoError(f.t, err)
}

// store returns the store, for writes by hand.
func (f *testCore) store() cache.Store { return f.view.Shared().GetStore() }

// Inspector returns the inspector of the core.
func (f *testCore) Inspector() *informer.Inspector { return f.view.Inspector() }

// deltaOf returns a delta of a pod.
func deltaOf(op deltafifo.Op, p *corev1.Pod) deltafifo.Delta {
	key, _ := object.KeyOf(p)
	return deltafifo.Delta{Op: op, Key: key, UID: string(p.UID), Version: p.ResourceVersion, Object: p, Stamp: object.StampOf(string(p.UID))}
}

// write sends deltas to the sink of source 0, through the transform, and applies the queued deltas.
func (f *testCore) write(t *testing.T, deltas ...deltafifo.Delta) {
	writeBatch(t, f.in, deltas)
	f.drain(t)
}

// writeBatch sends a batch to a sink as a reflector does.
func writeBatch(t *testing.T, in *engine.Sink, batch []deltafifo.Delta) {
	t.Helper()
	require.NoError(t, in.Write(t.Context(), batch))
}

// take sends a Begin, or a Commit at version 1, to the sink of source 0 and applies it.
func (f *testCore) take(t *testing.T, op deltafifo.Op) {
	in := f.in
	switch op {
	case deltafifo.Begin:
		require.NoError(t, in.Begin(t.Context(), reflector.SameHistory))
	case deltafifo.Commit:
		require.NoError(t, in.Commit(t.Context(), "1"))
	}
	f.drain(t)
}

func (f *testCore) drain(t *testing.T) {
	batch, err := f.Drain(t.Context())
	require.NoError(t, err)
	f.apply(batch...)
}

// coreOf returns the core of an informer, which hides it.
func coreOf[T informer.Object](i *informer.Informer[T]) *engine.Core {
	return (*engine.Core)(reflect.ValueOf(i).Elem().FieldByName("core").UnsafePointer())
}
