package engine_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// An object that packing changes is pinned. One error names the object and the field.
func TestObjectsThatPackingChangesArePinned(t *testing.T) {
	size := resource.MustParse("1Gi")
	for name, row := range map[string]struct {
		change func(p *corev1.Pod)
		field  string // empty if packing changes nothing
	}{
		"an ordinary pod": {func(*corev1.Pod) {}, ""},
		"an empty pod":    {func(p *corev1.Pod) { *p = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name}} }, ""},
		"a kind":          {func(p *corev1.Pod) { p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"} }, ""},
		"half a kind":     {func(p *corev1.Pod) { p.Kind = "Pod" }, ""},
		"a quantity behind a pointer": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}}}
		}, ""},
		"a quantity in a map":                {func(p *corev1.Pod) { p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("250m")} }, ""},
		"text that is not UTF-8":             {func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "\xff\xfe"} }, ""},
		"an empty list":                      {func(p *corev1.Pod) { p.Finalizers = []string{} }, ".ObjectMeta.Finalizers"},
		"an empty map":                       {func(p *corev1.Pod) { p.Labels = map[string]string{} }, ".ObjectMeta.Labels"},
		"nanoseconds":                        {func(p *corev1.Pod) { p.CreationTimestamp.Time = time.Unix(1, 1) }, ".ObjectMeta.CreationTimestamp.Time"},
		"a time zone":                        {func(p *corev1.Pod) { p.CreationTimestamp.Time = time.Unix(1, 0).In(time.FixedZone("x", 3600)) }, ".ObjectMeta.CreationTimestamp.Time"},
		"deep inside":                        {func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{{}, {Env: []corev1.EnvVar{}}} }, ".Spec.Containers[1].Env"},
		"text that is not UTF-8, and a kind": {func(p *corev1.Pod) { p.Kind, p.Annotations = "Pod", map[string]string{"secret-key": "secret\xff"} }, ".ObjectMeta.Annotations[]"},
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := packedCore(t, informer.Options[*corev1.Pod]{})
			want := podWith("a", row.change).DeepCopy()
			storeIn(t, coreOf(i), podWith("a", row.change))
			b := podWith("b", row.change)
			storeIn(t, coreOf(i), b)
			key, _ := object.KeyOf(want)
			a, ok := i.Indexer().Get(key)
			require.True(t, ok)
			require.Equal(t, want, a)
			errs := coreOf(i).Untold()
			if row.field == "" {
				require.Empty(t, errs)
				require.Zero(t, i.Status().Storage.Pinned)
				return
			}
			require.Len(t, errs, 1)
			require.Equal(t, key, errs[0].Key)
			require.ErrorContains(t, errs[0], "default/a")
			require.Equal(t, "after encoding and decoding, it differs in "+row.field, errs[0].Unwrap().Error())
			require.NotContains(t, errs[0].Error(), "secret")
			require.Equal(t, 2, i.Status().Storage.Pinned)
			again, _ := i.Indexer().Get(key)
			require.Same(t, a, again)
			key.Name = "b"
			got, _ := i.Indexer().Get(key)
			require.Same(t, b, got)
		})
	}
}

// An unstructured object is packed only if its numbers have the types of the JSON decoder.
func TestNumbersOfUnstructuredObjects(t *testing.T) {
	for name, row := range map[string]struct {
		value  any
		pinned int
	}{
		"int64": {int64(1 << 60), 0}, "float64": {1.5, 0}, "nil": {nil, 0}, "a list": {[]any{"a", int64(1), true}, 0}, "an empty list": {[]any{}, 0},
		"a whole float64": {float64(1), 1}, "int": {1, 1}, "a typed list": {[]string{"a"}, 1}, "a nil list": {[]any(nil), 1},
		"what JSON has not": {func() {}, 1}, "a time": {metav1.Now(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := packedCore(t, informer.Options[*unstructured.Unstructured]{})
			u := unstructuredWith("a", row.value)
			storeIn(t, coreOf(i), u)
			require.Equal(t, row.pinned, i.Status().Storage.Pinned)
			require.Len(t, coreOf(i).Untold(), row.pinned)
			got, ok := i.Indexer().Get(rig.Named("a"))
			require.True(t, ok)
			if row.pinned == 1 {
				require.Same(t, u, got)
			} else {
				require.Equal(t, u, got)
			}
		})
	}
}

// An encoder that fails, panics or writes garbage only costs memory. The number of reported reasons is bounded. An
// object that cannot be decoded is always reported.
func TestEncodersThatFail(t *testing.T) {
	unverified(t)
	i, _ := packedCore(t, informer.Options[*moody]{})
	p := coreOf(i)
	put := func(name string, mood func() ([]byte, error)) {
		m := &moody{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, mood: mood}
		storeIn(t, coreOf(i), m)
		got, ok := i.Indexer().Get(rig.Named(name))
		require.True(t, ok)
		require.Same(t, m, got)
	}
	put("panics", func() ([]byte, error) { panic("moody") })
	put("nonsense", func() ([]byte, error) { return []byte(`[1]`), nil })
	put("empty", func() ([]byte, error) { return []byte(`{}`), nil })
	require.Len(t, p.Untold(), 3)
	for n := range 3 * engine.MostCauses {
		put(fmt.Sprint(n), func() ([]byte, error) { return nil, fmt.Errorf("mood %d", n) })
	}
	require.Len(t, p.Untold(), engine.MostCauses-3)
	require.Equal(t, engine.MostCauses, p.Causes())
	require.Equal(t, 3+3*engine.MostCauses, i.Status().Storage.Pinned)
	for range 2 {
		o, err := p.Kind().Pack("", "a", nil, pack.Marshalled)
		require.NoError(t, err)
		p.Lose(o, errDamaged)
	}
	require.Len(t, p.Untold(), 1)
}

// An object that a program puts into the store stays the same pointer.
func TestObjectsWrittenByHandArePinned(t *testing.T) {
	f := newTestCore(t, rig.PackedCold(), 1)
	f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
	mine := podWith("a", func(p *corev1.Pod) { p.Finalizers = []string{} })
	require.NoError(t, f.store().Update(mine))
	require.NoError(t, f.store().Add(kit.Pod("c", "3")))
	for range 2 {
		got, ok := podsIn(f.Core).Get(rig.Named("a"))
		require.True(t, ok)
		require.Same(t, mine, got)
	}
	require.Equal(t, 2, f.Status().Storage.Pinned)
	require.Empty(t, f.Untold(), "nothing is wrong with them")
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Deleted, kit.Pod("c", "12")))
	require.Zero(t, f.Status().Storage.Pinned)
}

// The counters of Status agree with a walk over all objects while objects are added and removed.
func TestStorageCountersAgreeWithAWalk(t *testing.T) {
	f := newTestCore(t, rig.PackedCold(), 1)
	agrees := func() {
		t.Helper()
		size, pinned := int64(0), 0
		f.Writer().Scan(0, func(stored any) bool {
			size += engine.Unwrap(stored).Size()
			if engine.Unwrap(stored).IsPinned() {
				pinned++
			}
			return true
		})
		require.Equal(t, size, f.Kind().Stored())
		require.Equal(t, pinned, f.Status().Storage.Pinned)
	}
	f.list("10", kit.Pod("web-a", "1"), kit.Pod("web-b", "2"), kit.Pod("db-a", "3"))
	agrees()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("web-a", "11")), deltaOf(deltafifo.Added, kit.Pod("web-c", "12")), deltaOf(deltafifo.Deleted, kit.Pod("web-b", "13")))
	agrees()
	require.NoError(t, f.store().Add(kit.Pod("web-a", "14")))
	require.NoError(t, f.store().Add(kit.Pod("web-d", "15")))
	agrees()
	require.Equal(t, 2, f.Status().Storage.Pinned)
	f.list("20", kit.Pod("web-a", "11"), kit.Pod("web-e", "19"))
	agrees()
	require.NoError(t, f.store().Replace(nil, ""))
	agrees()
	require.Zero(t, f.Kind().Stored())
}

// An informer of an interface type, or of a type that is not a pointer, pins all objects and reports why.
func TestAnInterfaceTypePinsAll(t *testing.T) {
	i, in := packedCore(t, informer.Options[apiObject]{Storage: informer.Storage{Decoded: informer.NewBudget(1 << 20)}})
	require.Nil(t, engine.Packer(in, "pods", podDecoder{}), "of a source that decodes here, too")
	a, b := kit.Pod("a", "1"), kit.Pod("b", "2")
	storeIn(t, coreOf(i), a)
	storeIn(t, coreOf(i), b)
	got, ok := i.Indexer().Get(rig.Named("a"))
	require.True(t, ok)
	require.Same(t, a, got)
	require.Len(t, i.Indexer().Select("default", nil), 2)
	require.Equal(t, 2, i.Status().Storage.Pinned)
	errs := coreOf(i).Untold()
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], engine.ErrNotPacked)
	require.ErrorContains(t, errs[0], "*v1.Pod")
	require.Zero(t, i.Status().Storage.Budget.Used())
}

// An object of another Go type than the informer's is pinned.
func TestAForeignTypeIsPinned(t *testing.T) {
	shared := informer.JoinShared(rig.LateOf(rig.Silent{}), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Storage: rig.PackedCold().Storage, Observe: rig.Observed})
	i, ok := informer.As[*corev1.Pod](shared)
	require.True(t, ok)
	c := coreOf(i)
	inside := c
	inside.Reflect(rig.SourceOf(rig.Silent{}), inside.Sink(0))
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}}
	storeIn(t, c, service)
	storeIn(t, c, kit.Pod("a", "1"))
	got, ok := c.Writer().Indexer().Get(rig.Named("s"))
	require.True(t, ok)
	require.Same(t, service, got)
	require.Equal(t, 1, i.Status().Storage.Pinned)
	require.Len(t, c.Untold(), 1)
}

// The objects of a second source are packed from its bytes if it has the same decoder as the first source.
// Otherwise the informer encodes them itself.
func TestSourcesThatDecodeDifferently(t *testing.T) {
	f := newTestCore(t, rig.PackedCold(), 3)
	sinks := []*engine.Sink{f.in, f.Sink(1), f.Sink(2)}
	require.NotNil(t, engine.Packer(sinks[0], "pods", podDecoder{}))
	require.Nil(t, engine.Packer(sinks[1], "other pods", podDecoder{}))
	again := engine.Packer(sinks[2], "pods", podDecoder{})
	require.NotNil(t, again)

	p := kit.Pod("a", "1")
	data, err := p.Marshal()
	require.NoError(t, err)
	require.Equal(t, 0, pinnedIn(f.Core))
	received := deltaOf(deltafifo.Added, p)
	received.Object = again.Take(p, data, pack.Event)
	other := deltaOf(deltafifo.Added, kit.Pod("b", "2"))
	batch := []deltafifo.Delta{received, other}
	f.Pack(batch)
	require.Same(t, received.Object, batch[0].Object)
	require.NotNil(t, engine.Unwrap(batch[1].Object))
	f.apply(batch...)
	require.Equal(t, "a@1", kit.Text(podAt(t, f.Core, "a")))
	require.Equal(t, "b@2", kit.Text(podAt(t, f.Core, "b")))
	require.Equal(t, 0, pinnedIn(f.Core))
}

// The first objects of an initial state are decoded, and others while the budget has room. After that only a sample
// is decoded.
func TestObjectsWithoutRoomStayUndecoded(t *testing.T) {
	unverified(t)
	const pods = 3 * engine.ComparedFirst
	undecoded := func(f *testCore) (n int) {
		taker := engine.Packer(f.in, "pods", podDecoder{})
		held := make([]any, pods) // objects that nothing else refers to leave the budget
		for i := range pods {
			p := kit.RunningPod("owner", i)
			data, err := p.Marshal()
			require.NoError(t, err)
			stored := taker.TakeUndecoded(p.Namespace, p.Name, data, pack.Event)
			if stored == nil {
				stored = taker.Take(p, data, pack.Event)
			} else {
				n++
			}
			again, err := engine.Unwrap(stored).Value(pack.Nowhere)
			require.NoError(t, err)
			require.Equal(t, p, again)
			held[i] = stored
		}
		goruntime.KeepAlive(held)
		return n
	}
	within := func(budget int64) *testCore {
		return newTestCore(t, informer.Options[*corev1.Pod]{Storage: informer.Storage{Decoded: informer.NewBudget(budget)}}, 1)
	}
	cold := within(0)
	require.Equal(t, pods-engine.ComparedFirst, undecoded(cold))
	require.Zero(t, undecoded(within(math.MaxInt64)))
	some := within(2 << 20)
	n := undecoded(some)
	require.Positive(t, n)
	require.Less(t, n, pods-engine.ComparedFirst)
	require.Nil(t, engine.Packer(within(0).in, "services", serviceDecoder{}), "objects of another type")
}

// An object that was packed undecoded, and cannot be decoded later, is missing until its next event.
func TestAnObjectPackedUndecodedThatDoesNotDecode(t *testing.T) {
	unverified(t)
	f := newTestCore(t, informer.Options[*corev1.Pod]{Storage: informer.Storage{Decoded: informer.NewBudget(0)}}, 1)
	taker := engine.Packer(f.in, "pods", podDecoder{})
	for i := range engine.ComparedFirst {
		p := kit.RunningPod("owner", i)
		data, err := p.Marshal()
		require.NoError(t, err)
		taker.Take(p, data, pack.Item)
	}
	broken := deltaOf(deltafifo.Added, kit.Pod("b", "2"))
	broken.Object = taker.TakeUndecoded("default", "b", []byte("\xff"), pack.Item)
	require.NotNil(t, broken.Object)
	f.apply(broken, deltaOf(deltafifo.Added, kit.Pod("a", "1")))
	require.Equal(t, "a@1", kit.Text(podAt(t, f.Core, "a")))
	_, ok := podsIn(f.Core).Get(rig.Named("b"))
	require.False(t, ok)
	require.Positive(t, f.Status().Storage.Undecodable)
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "3")))
	require.Equal(t, "b@3", kit.Text(podAt(t, f.Core, "b")))
}

// serviceDecoder decodes objects of another type.
type serviceDecoder struct{ podDecoder }

func (serviceDecoder) Type() reflect.Type { return reflect.TypeFor[*corev1.Service]() }

// The objects that a transform returns are packed, and read back equal.
func TestTransformedObjectsArePacked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("empty", "2"))
		var errs []error
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{
			Storage: rig.PackedCold().Storage,
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
				p.Status.Message = "transformed"
				if p.Name == "empty" {
					p.Status.Conditions = []corev1.PodCondition{}
				}
				return p, nil
			},
			Observe: func(e informer.Event) {
				if e, ok := e.(*informer.StorageError); ok {
					errs = append(errs, e)
				}
			},
		})
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		for _, name := range []string{"a", "b", "empty"} {
			p := podAt(t, coreOf(i), name)
			require.Equal(t, "transformed", p.Status.Message)
			require.Equal(t, "uid-"+name, string(p.UID))
		}
		require.Equal(t, 1, pinnedIn(coreOf(i)))
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], "default/empty")
		require.ErrorContains(t, errs[0], ".Status.Conditions")
		var e *informer.StorageError
		require.True(t, errors.As(fmt.Errorf("wrapped: %w", errs[0]), &e))
	})
}

// The run reports the errors, so an observer may call the informer and end the run.
func TestErrorsAreReportedByTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", podWith("a", func(p *corev1.Pod) { p.Finalizers = []string{} }), podWith("b", func(p *corev1.Pod) { p.Labels = map[string]string{} }))
		var i *informer.Informer[*corev1.Pod]
		var recorded []indexer.Key
		i = informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Storage: rig.PackedCold().Storage, Observe: func(e informer.Event) {
			if e, ok := e.(*informer.StorageError); ok {
				_ = i.Status()
				_ = i.Indexer().Select("", nil)
				if recorded = append(recorded, e.Key); len(recorded) == 1 {
					goruntime.Goexit()
				}
			}
		}})
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.Len(t, recorded, 1)
	})
}
