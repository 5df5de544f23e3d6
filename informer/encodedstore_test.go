package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/encoding"
	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// encoded makes the stores of a test hold encoded objects, without verify mode, in which stores
// decode all their objects. decoded requires the number of objects decoded since its previous call.
func encoded(t *testing.T) (decoded func(want int)) {
	c, on := new(fakecodec.Codec), verify.On
	verify.On = false
	t.Cleanup(func() { verify.On = on })
	t.Cleanup(encoding.Use(c))
	return func(want int) {
		t.Helper()
		require.Equal(t, want, c.Decoded())
	}
}

var byLabel = indexer.Index[*corev1.Pod]{Name: "app", Append: func(values []string, p *corev1.Pod) []string {
	return append(values, p.Labels["app"])
}}

// A stored object that the transport has left out of a list stays encoded. It is decoded for an
// index only if it must be put back: because a user has deleted it meanwhile, or another source has
// taken it over.
func TestWhatIsRecalledIsNotDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		parts     int
		meanwhile func(f *testCore)
		want      int
	}{
		"stored":            {1, func(*testCore) {}, 0},
		"deleted meanwhile": {1, func(f *testCore) { require.NoError(f.t, f.clientgo.store.Delete(kit.Pod("a", "1"))) }, 1},
		"of another source": {2, func(f *testCore) { f.apply(ofPart(1, kit.Pod("a", "1"))) }, 1},
		"sent again":        {1, func(f *testCore) { f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "1"))) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			decoded := encoded(t)
			f := newTestCore(t, Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byLabel}}, c.parts)
			f.list("10", kit.Pod("a", "1", kit.Label("app", "web")))
			stored, ok := f.in.Recall(named("a"), "uid-a", "1")
			require.True(t, ok)
			_, ok = f.in.Recall(named("a"), "uid-a", "2")
			require.False(t, ok)
			c.meanwhile(f)
			f.beginReplace()
			f.apply(deltafifo.Delta{Op: deltafifo.Added, Recalled: true, Key: named("a"), UID: "uid-a", Version: "1", Stamp: records.StampOf("uid-a"), Object: stored})
			f.commitReplace("20")
			decoded(c.want)
			require.Equal(t, 1, f.writer.Indexer().Len())
		})
	}
}

func ofPart(source uint16, p *corev1.Pod) deltafifo.Delta {
	d := deltaOf(deltafifo.Modified, p)
	d.Source = source
	return d
}

// If the transform removes identities, the server's identities are kept beside the stored objects,
// and a relist finds unchanged objects without decoding them.
func TestIdentitiesAsideAreOfWhatIsStored(t *testing.T) {
	decoded := encoded(t)
	f := newTestCore(t, Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
		p = p.DeepCopy()
		p.UID, p.ResourceVersion = "", ""
		return p, nil
	}}, 1)
	full := func(version string, pods ...*corev1.Pod) {
		require.NoError(t, f.in.Begin(t.Context(), reflector.SameHistory))
		for _, p := range pods {
			require.NoError(t, f.in.Write(t.Context(), []deltafifo.Delta{deltaOf(deltafifo.Added, p)}))
		}
		require.NoError(t, f.in.Commit(t.Context(), version))
		f.drain(t)
	}
	full("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
	a, _ := f.writer.Stored(named("a"))
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod("b", "11")))
	b, _ := f.writer.Stored(named("b"))
	full("20", kit.Pod("a", "1"), kit.Pod("b", "11"), kit.Pod("c", "12"))
	now, _ := f.writer.Stored(named("a"))
	require.Same(t, a, now)
	now, _ = f.writer.Stored(named("b"))
	require.Same(t, b, now)
	require.Equal(t, records.Identity{UID: "uid-b", Version: "11"}, f.identity(named("b"), now))
	decoded(0)
	require.Equal(t, 3, f.states[0].objects.Len())
	full("30")
	require.Zero(t, f.states[0].objects.Len())
}

// client-go's handlers get the delete of an object that was never stored, with its final state
// decoded.
func TestADeleteOfTheUnknownIsDecoded(t *testing.T) {
	decoded := encoded(t)
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	var typedDeletes int
	var told []any
	typed := f.register(Funcs[*corev1.Pod]{Deleted: func(*corev1.Pod) { typedDeletes++ }}, HandlerOptions{})
	clientgo := f.registration(newClientgoReceiver(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) { told = append(told, obj) },
	}, nil), HandlerOptions{}, nil)
	require.NoError(t, f.addHandler(clientgo, false))
	f.list("1")
	last := kit.Pod("a", "2")
	lost := deltaOf(deltafifo.Deleted, kit.Pod("b", "3"))
	lost.Object, lost.Lost = nil, true
	f.apply(deltaOf(deltafifo.Deleted, last), lost)
	f.start()
	f.settled(typed, clientgo)
	require.Zero(t, typedDeletes)
	require.Equal(t, []any{last, cache.DeletedFinalStateUnknown{Key: "default/b"}}, told)
	decoded(1)
	_, is := told[0].(metav1.Object)
	require.True(t, is)
}
