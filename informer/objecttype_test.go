package informer_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// speaker is an interface type that some objects implement: pods and nodes, but not services.
type speaker interface {
	metav1.Object
	runtime.Object
	speak() string
}

type speakingPod struct{ corev1.Pod }

func (*speakingPod) speak() string { return "pod" }

type speakingNode struct{ corev1.Node }

func (*speakingNode) speak() string { return "node" }

func newSpeaking(name, version string) []runtime.Object {
	meta := metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}
	pod, node := &speakingPod{}, &speakingNode{}
	pod.ObjectMeta, node.ObjectMeta = meta, meta
	node.Name += "-node"
	return []runtime.Object{pod, node}
}

// mixed is a source whose lists hold objects of several types.
type mixed struct {
	*rig.Script
	objects []runtime.Object
}

func (m *mixed) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
	for _, obj := range m.objects {
		list.Items = append(list.Items, runtime.RawExtension{Object: obj})
	}
	return list, nil
}

func newMixed(objects ...runtime.Object) *mixed { return &mixed{rig.NewScript("10"), objects} }

// ofPods makes informers of pods: the compiler knows the type of the first, and only the running
// program the type of the others.
var ofPods = map[string]func(s kit.Source, observe func(informer.Event)) *informer.Informer[*corev1.Pod]{
	"known to the compiler": func(s kit.Source, observe func(informer.Event)) *informer.Informer[*corev1.Pod] {
		return informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: observe})
	},
	"known at run time": func(s kit.Source, observe func(informer.Event)) *informer.Informer[*corev1.Pod] {
		i, _ := informer.As[*corev1.Pod](informer.JoinShared(rig.LateOf(s), reflect.TypeFor[*corev1.Pod](), informer.Options[any]{Observe: observe}))
		return i
	},
	"of a manager": func(s kit.Source, observe func(informer.Event)) *informer.Informer[*corev1.Pod] {
		i, _ := informer.As[*corev1.Pod](informer.ForManager(rig.SourceOf(s), engine.Options{Observe: observe}))
		return i
	},
}

func eachOfPods(t *testing.T, test func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod])) {
	for name, create := range ofPods {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, create) }) })
	}
}

// D25: objects of another type are left out of lists and watches, and each is reported.
func TestContract_D25_WhatIsDecoded(t *testing.T) {
	eachOfPods(t, func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod]) {
		seen := rig.NewEvents()
		s := newMixed(kit.Pod("a", "1"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "2"}})
		i := create(s, seen.Observe)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, []indexer.Key{rig.Named("a")}, i.Indexer().Keys())
		skipped := rig.Of[reflector.Skipped](seen)
		require.Len(t, skipped, 1)
		require.ErrorIs(t, skipped[0].Err, informer.ErrType)
		s.Send(watch.Modified, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.NoError(t, i.WaitDelivered(t.Context(), "11"))
		require.Len(t, rig.Of[reflector.Skipped](seen), 1)
		a, _ := i.Indexer().Get(rig.Named("a"))
		require.Equal(t, "11", a.ResourceVersion)
	})
}

// D25: an object is quarantined if the transform returns nil or an object of another type.
func TestContract_D25_WhatATransformMakes(t *testing.T) {
	for made, transform := range map[string]cache.TransformFunc{
		"another type": func(any) (any, error) { return &corev1.Service{}, nil },
		"a nil":        func(any) (any, error) { return nil, nil },
		"a typed nil":  func(any) (any, error) { return (*corev1.Pod)(nil), nil },
	} {
		t.Run(made, func(t *testing.T) {
			eachOfPods(t, func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod]) {
				seen := rig.NewEvents()
				i := create(rig.NewScript("10", kit.Pod("a", "1")), seen.Observe)
				require.NoError(t, i.Shared().SetTransform(transform))
				rig.Start(t, i)
				require.NoError(t, i.WaitSynced(t.Context()))
				require.Zero(t, i.Indexer().Len())
				failed := rig.Of[*informer.QuarantineError](seen)
				require.Len(t, failed, 1)
				require.ErrorIs(t, failed[0], informer.ErrTransform)
				if made == "a typed nil" {
					require.ErrorContains(t, failed[0], "the transform failed: it returned nil")
				} else {
					require.ErrorIs(t, failed[0], informer.ErrType)
				}
			})
		})
	}
}

// D25: the store refuses objects of another type that a user writes through client-go's API.
func TestContract_D25_WhatAUserWrites(t *testing.T) {
	eachOfPods(t, func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod]) {
		i := create(rig.Silent{}, rig.Observed)
		store := i.Shared().GetIndexer()
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		require.ErrorIs(t, store.Add(node), informer.ErrType)
		require.ErrorIs(t, store.Update(node), informer.ErrType)
		require.ErrorIs(t, store.Replace([]any{kit.Pod("a", "1"), node}, "1"), informer.ErrType)
		failed := store.(cache.TransactionStore).Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: node}, cache.Transaction{Type: cache.TransactionTypeAdd, Object: kit.Pod("b", "1")})
		require.Equal(t, []int{1}, failed.SuccessfulIndices)
		require.ErrorIs(t, failed.Errors[0], informer.ErrType)
		require.NoError(t, store.Delete(node), "a delete stores nothing")
		require.Equal(t, []indexer.Key{rig.Named("b")}, i.Indexer().Keys())
		require.NoError(t, store.Add(kit.Pod("b", "2")))
	})
}

// D25: an informer of an interface type holds all objects that implement the interface, and no
// others.
func TestContract_D25_AnInterfaceType(t *testing.T) {
	for name, create := range map[string]func(kit.Source) *informer.Informer[speaker]{
		"known to the compiler": func(s kit.Source) *informer.Informer[speaker] {
			return informer.New(rig.SourceOf(s), informer.Options[speaker]{Observe: rig.Observed})
		},
		"known at run time": func(s kit.Source) *informer.Informer[speaker] {
			i, _ := informer.As[speaker](informer.JoinShared(rig.LateOf(s), reflect.TypeFor[speaker](), informer.Options[any]{Observe: rig.Observed}))
			return i
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newMixed(append(newSpeaking("a", "1"), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}})...)
				i := create(s)
				require.NoError(t, i.AddIndexes(indexer.Index[speaker]{Name: "speaks", Append: func(v []string, o speaker) []string { return append(v, o.speak()) }}))
				require.NoError(t, i.SetTransform(func(o speaker) (speaker, error) {
					if o.GetName() == "nothing" {
						return nil, nil
					}
					return o, nil
				}))
				var recorded []string
				_, err := i.Handle(informer.Funcs[speaker]{
					Added:   func(o speaker) { recorded = append(recorded, "add "+o.speak()) },
					Updated: func(_, o speaker) { recorded = append(recorded, "update "+o.speak()) },
					Deleted: func(o speaker) { recorded = append(recorded, "delete "+o.speak()) },
				}, informer.HandlerOptions{})
				require.NoError(t, err)
				rig.Start(t, i)
				require.NoError(t, i.WaitSynced(t.Context()))
				require.Equal(t, 2, i.Indexer().Len())
				found := slices.Collect(i.Indexer().By("speaks", "node"))
				require.Len(t, found, 1)
				require.Equal(t, "a-node", found[0].GetName())
				s.Send(watch.Added, newSpeaking("nothing", "11")[0])
				s.Send(watch.Modified, newSpeaking("a", "12")[0])
				s.Send(watch.Deleted, newSpeaking("a", "13")[1])
				require.NoError(t, i.WaitDelivered(t.Context(), "13"))
				slices.Sort(recorded)
				require.Equal(t, []string{"add node", "add pod", "delete node", "update pod"}, recorded)
				require.Equal(t, 1, i.Status().Quarantined)
				require.ErrorIs(t, i.Shared().GetStore().Add(&corev1.Service{}), informer.ErrType)
				_, ok := informer.As[*speakingPod](i.Shared())
				require.False(t, ok, "of another type")
			})
		})
	}
}

// D25: As refuses an informer of client-go's constructors, which promise no type.
func TestContract_D25_AsOfAnInformerOfAnything(t *testing.T) {
	_, ok := informer.As[*corev1.Pod](newShared(kit.ListerWatcher{Source: rig.Silent{}}, &corev1.Pod{}, 0, nil))
	require.False(t, ok)
}

// D25: an informer of a manager's cache holds objects of its example's Go type alone, so that As returns its
// typed view.
func TestContract_D25_AsOfAManagersInformer(t *testing.T) {
	type is struct{ pod, unstructured, metadata bool }
	typesOf := func(i cache.SharedIndexInformer) (found is) {
		_, found.pod = informer.As[*corev1.Pod](i)
		_, found.unstructured = informer.As[*unstructured.Unstructured](i)
		_, found.metadata = informer.As[*metav1.PartialObjectMetadata](i)
		return found
	}
	for _, row := range []struct {
		example runtime.Object
		want    is
	}{
		{&corev1.Pod{}, is{pod: true}},
		{&unstructured.Unstructured{}, is{unstructured: true}},
		{&metav1.PartialObjectMetadata{}, is{metadata: true}},
		{nil, is{}},
	} {
		require.Equal(t, row.want, typesOf(informer.ForControllerRuntime(kit.ListerWatcher{Source: rig.Silent{}}, row.example, 0, nil)), "%T", row.example)
	}
}

// Shared, GetIndexer and GetStore return one value per informer, without allocation.
func TestClientgosInformerAndItsStoreAreMadeOnce(t *testing.T) {
	i := informer.New(rig.SourceOf(rig.Silent{}), informer.Options[*corev1.Pod]{})
	require.NoError(t, i.Shared().GetStore().Add(kit.Pod("a", "1")))
	require.Same(t, i.Shared(), i.Shared())
	again, ok := informer.As[*corev1.Pod](i.Shared())
	require.True(t, ok)
	require.Same(t, i, again)
	require.Same(t, i.Shared().GetIndexer(), i.Shared().GetStore())
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, ok, err := i.Shared().GetIndexer().GetByKey("default/a")
		if !ok || err != nil {
			panic(err)
		}
		i.Shared().GetStore()
		i.Indexer()
		i.Lister()
	}))
	a := kit.Pod("a", "1")
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		if found, err := i.Shared().GetIndexer().Index(cache.NamespaceIndex, a); len(found) != 1 || err != nil {
			panic(err)
		}
	}), "the slice that it returns")
}

// Status counts the objects of another type that lists and watches have brought.
func TestTheStatusCountsObjectsOfAnotherType(t *testing.T) {
	eachOfPods(t, func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod]) {
		s := newMixed(kit.Pod("a", "1"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "2"}})
		seen := rig.NewEvents()
		i := create(s, seen.Observe)
		require.Zero(t, i.Status().LeftOut)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		synctest.Wait()
		for range 2 { // asking changes nothing
			st := i.Status()
			require.Equal(t, 1, st.LeftOut)
			require.NoError(t, st.LastError, "the list did not fail")
		}
		require.ErrorContains(t, rig.Of[reflector.Skipped](seen)[0].Err, "*v1.Node")
		time.Sleep(time.Second)
		s.Send(watch.Added, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", ResourceVersion: "11"}})
		synctest.Wait()
		st := i.Status()
		require.Equal(t, 2, st.LeftOut)
		require.ErrorContains(t, rig.Of[reflector.Skipped](seen)[0].Err, "v1.Service")
		require.Equal(t, 1, st.Objects)
	})
}

// Status also counts results of the transform that are of another type, but no other failures of
// the transform.
func TestTheStatusCountsWhatATransformMakesOfAnotherType(t *testing.T) {
	eachOfPods(t, func(t *testing.T, create func(kit.Source, func(informer.Event)) *informer.Informer[*corev1.Pod]) {
		seen := rig.NewEvents()
		i := create(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), seen.Observe)
		require.NoError(t, i.Shared().SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.Pod).Name == "b" {
				return nil, rig.ErrPoison
			}
			return &corev1.Service{}, nil
		}))
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		synctest.Wait()
		st := i.Status()
		require.Equal(t, 2, st.Quarantined)
		require.Equal(t, 1, st.LeftOut)
		failed := rig.Of[*informer.QuarantineError](seen)
		require.ErrorIs(t, failed[0], informer.ErrType)
		require.ErrorContains(t, failed[0], "default/a")
		require.ErrorContains(t, failed[0], "*v1.Service")
	})
}
