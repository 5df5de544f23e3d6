package factory

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	informerscorev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	listerscorev1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// listers are two listers of a kind over one store: the factory's, and client-go's generated one.
type listers struct {
	name        string
	k           kind
	ours, other reflect.Value
}

// allListers finds the listers of all kinds. The factory's groups and versions embed client-go's.
func allListers(f *Factory) (all []listers) {
	set, factory := reflect.TypeFor[informers.SharedInformerFactory](), reflect.ValueOf(f)
	for i := range set.NumMethod() {
		group := set.Method(i)
		if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		versions := factory.MethodByName(group.Name).Call(nil)[0].Elem()
		for j := range group.Type.Out(0).NumMethod() {
			version := group.Type.Out(0).Method(j)
			kinds := versions.MethodByName(version.Name).Call(nil)[0].Elem()
			for n := range version.Type.Out(0).NumMethod() {
				name := version.Type.Out(0).Method(n).Name
				lister := func(of reflect.Value) reflect.Value {
					return of.MethodByName(name).Call(nil)[0].MethodByName("Lister").Call(nil)[0].Elem()
				}
				l := listers{name: name, ours: lister(kinds), other: lister(kinds.FieldByName("Interface"))}
				list, _ := l.other.Type().MethodByName("List")
				l.k = f.kinds[list.Type.Out(0).Elem()]
				all = append(all, l)
			}
		}
	}
	return all
}

// same calls a method of both listers and requires the same answer.
func (l listers) same(t *testing.T, method string, args ...any) (ours []reflect.Value) {
	values := make([]reflect.Value, len(args))
	for i := range args {
		values[i] = reflect.ValueOf(args[i])
	}
	ours, other := l.ours.MethodByName(method).Call(values), l.other.MethodByName(method).Call(values)
	require.Equal(t, other[1].Interface(), ours[1].Interface(), "%s: %s(%v)", l.name, method, args)
	if method == "List" {
		require.ElementsMatch(t, other[0].Interface(), ours[0].Interface(), "%s: List(%v)", l.name, args)
		require.Equal(t, other[0].IsNil(), ours[0].IsNil(), "%s: List(%v)", l.name, args)
		return ours
	}
	require.Equal(t, other[0].Interface(), ours[0].Interface(), "%s: %s(%v)", l.name, method, args)
	return ours
}

// in returns the listers of a namespace.
func (l listers) in(namespace string) listers {
	of := func(v reflect.Value) reflect.Value {
		return v.MethodByName(l.name).Call([]reflect.Value{reflect.ValueOf(namespace)})[0].Elem()
	}
	return listers{l.name + " of " + namespace, l.k, of(l.ours), of(l.other)}
}

// compare makes all calls to both listers. The store holds first and second, and only second has
// the label.
func (l listers) compare(t *testing.T) {
	for _, selector := range []string{"", "color=red", "color!=red", "color in (red,green)", "!color", "color", "none"} {
		parsed, err := labels.Parse(selector)
		require.NoError(t, err)
		l.same(t, "List", parsed)
		l.same(t, "List", parsed) // with the index that the first call may have built
	}
	listed := l.same(t, "List", labels.Everything())[0]
	if listed.Len() > 0 {
		listed.Index(0).SetZero() // writes into the caller's own slice
		l.same(t, "List", labels.Everything())
	}
}

// The listers of all kinds answer as client-go's do.
func TestEveryListerIsAsClientgos(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewSimpleClientset()
		f := NewSharedInformerFactory(client, 0)
		all := allListers(f)
		require.Len(t, all, 147)
		for _, k := range builtin() {
			for _, name := range []string{"first", "second"} {
				obj := newObject(k, name)
				if name == "second" {
					obj.SetLabels(map[string]string{"color": "red"})
				}
				require.NoError(t, client.Tracker().Create(k.resource, obj, namespaceIn(k)), k.resource)
			}
		}
		begin(t, ctx, f)
		for _, l := range all {
			l.compare(t)
			if !l.k.namespaced {
				for _, name := range []string{"first", "none", "", "prod/first"} {
					l.same(t, "Get", name)
				}
				continue
			}
			for _, namespace := range []string{"prod", "empty", ""} {
				in := l.in(namespace)
				in.compare(t)
				for _, name := range []string{"first", "none", "", "prod/first"} {
					in.same(t, "Get", name)
				}
			}
		}
	})
}

// The listers of ForResource answer as client-go's generic one does.
func TestGenericListersAreAsClientgos(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	for _, k := range builtin() {
		i, err := f.ForResource(k.resource)
		require.NoError(t, err)
		for n, color := range []string{"red", "green"} {
			obj := newObject(k, []string{"first", "second"}[n])
			obj.SetLabels(map[string]string{"color": color})
			require.NoError(t, i.Informer().GetIndexer().Add(obj))
		}
		ours, theirs := reflect.ValueOf(i.Lister()), reflect.ValueOf(cache.NewGenericLister(i.Informer().GetIndexer(), k.resource.GroupResource()))
		all := listers{k.resource.String(), k, ours, theirs}
		in := func(namespace string) listers {
			of := func(v reflect.Value) reflect.Value {
				return v.MethodByName("ByNamespace").Call([]reflect.Value{reflect.ValueOf(namespace)})[0].Elem()
			}
			return listers{all.name + " of " + namespace, k, of(ours), of(theirs)}
		}
		lists := []listers{all}
		if k.namespaced {
			lists = append(lists, in("prod"), in("empty"))
		}
		for _, l := range lists {
			l.compare(t)
			for _, name := range []string{"first", "none", "", "prod/first"} {
				l.same(t, "Get", name)
			}
		}
	}
}

// A selector decodes only the objects that it matches.
func TestGenericListersSelectByLabels(t *testing.T) {
	web := newPod("prod", "web")
	web.Labels = map[string]string{"app": "web"}
	packed := informer.Storage{Decoded: informer.NewBudget(0)}
	selects := func(t *testing.T, pods informers.GenericInformer) {
		ours, ok := informer.SharedOf(pods.Informer())
		require.True(t, ok)
		for text, found := range map[string]int{"app=web": 1, "app!=web": 2, "!app": 2, "app=web,app!=web": 0} {
			selector, err := labels.Parse(text)
			require.NoError(t, err)
			before := ours.Status().Storage.Decodes
			list, err := pods.Lister().List(selector)
			require.NoError(t, err)
			require.Len(t, list, found, text)
			require.EqualValues(t, found, ours.Status().Storage.Decodes-before, text)
		}
	}
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(web, newPod("prod", "a"), newPod("test", "b")), 0, WithStorage(packed))
		pods, err := f.ForResource(podResource)
		require.NoError(t, err)
		begin(t, ctx, f)
		selects(t, pods)
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme, web, newPod("prod", "a"), newPod("test", "b")), 0)
		f.SetStorage(packed)
		pods := f.ForResource(podResource)
		begin(t, ctx, f)
		selects(t, pods)
	})
}

// The methods that client-go has added to the listers of some kinds work too.
func TestListersHaveTheMethodsThatClientgoHasAdded(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web-1", Labels: map[string]string{"app": "web"}}}
		set := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"},
			Spec:       appsv1.ReplicaSetSpec{Selector: metav1.SetAsLabelSelector(pod.Labels)},
		}
		f := NewSharedInformerFactory(fake.NewClientset(set), 0)
		sets := f.Apps().V1().ReplicaSets().Lister()
		begin(t, ctx, f)
		found, err := sets.GetPodReplicaSets(pod)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "web", found[0].Name)
		pod.Labels = nil
		_, err = sets.GetPodReplicaSets(pod)
		require.Error(t, err)
	})
}

// An unused lister reads nothing, and Get of the factory's lister costs as much as Get of a
// namespace's lister.
func TestListersAllocateLittle(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	pods, nodes := f.Core().V1().Pods(), f.Core().V1().Nodes()
	require.NoError(t, pods.Informer().GetIndexer().Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}))
	require.NoError(t, nodes.Informer().GetIndexer().Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}))
	podLister, nodeLister := pods.Lister(), nodes.Lister()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = podLister.Pods("prod").Get("web") }), 1.0)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = nodeLister.Get("node") }))
}

// client-go's lister reads an informer made by another constructor.
func TestAForeignInformerIsReadByClientgosLister(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	external := f.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return informerscorev1.NewPodInformer(c, "", resync, cache.Indexers{})
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	require.NoError(t, external.GetIndexer().Add(pod))
	lister := f.Core().V1().Pods().Lister()
	require.IsType(t, listerscorev1.NewPodLister(nil), lister)
	got, err := lister.Pods("prod").Get("web")
	require.NoError(t, err)
	require.Same(t, pod, got)
}
