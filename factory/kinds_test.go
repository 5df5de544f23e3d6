package factory

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// The table has every kind that kubernetes.Interface can list and watch. Unlike the generator,
// this test uses only the signatures.
func TestTableMissesNoKind(t *testing.T) {
	inTable := make(map[reflect.Type]bool)
	for _, k := range builtin() {
		inTable[k.object] = k.namespaced
	}
	found := 0
	groups := reflect.TypeFor[kubernetes.Interface]()
	for i := range groups.NumMethod() {
		group := groups.Method(i).Type
		if group.NumIn() > 0 || group.NumOut() != 1 || group.Out(0).Kind() != reflect.Interface {
			continue
		}
		for j := range group.Out(0).NumMethod() {
			client := group.Out(0).Method(j)
			if client.Type.NumOut() != 1 || client.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			list, lists := client.Type.Out(0).MethodByName("List")
			_, watches := client.Type.Out(0).MethodByName("Watch")
			if !lists || !watches {
				continue
			}
			found++
			items, ok := list.Type.Out(0).Elem().FieldByName("Items")
			require.True(t, ok, client.Name)
			namespaced, ok := inTable[reflect.PointerTo(items.Type.Elem())]
			require.True(t, ok, "%s of %s is missing", client.Name, groups.Method(i).Name)
			require.Equal(t, client.Type.NumIn() == 1, namespaced, client.Name)
		}
	}
	require.Len(t, inTable, found)
	require.Equal(t, 147, found)
}

func TestTableIsSmall(t *testing.T) {
	table, err := os.ReadFile("kinds_generated.go")
	require.NoError(t, err)
	require.Less(t, bytes.Count(table, []byte("\n")), 400)
}

// newObject returns an object of a kind.
func newObject(k kind, name string) kit.APIObject {
	obj := reflect.New(k.object.Elem()).Interface().(kit.APIObject)
	obj.SetName(name)
	if k.namespaced {
		obj.SetNamespace("prod")
	}
	return obj
}

// accessorOf is an accessor of a kind, such as Core().V1().Pods().
type accessorOf struct {
	name     string
	informer cache.SharedIndexInformer
	list     func(labels.Selector) (any, error) // lists with its lister
}

// accessorsOf calls all accessors of a factory by reflection.
func accessorsOf(f informers.SharedInformerFactory) []accessorOf {
	var all []accessorOf
	set, factory := reflect.TypeFor[informers.SharedInformerFactory](), reflect.ValueOf(f)
	for i := range set.NumMethod() {
		group := set.Method(i)
		if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		versions := factory.MethodByName(group.Name).Call(nil)[0]
		for j := range versions.NumMethod() {
			kinds := versions.Method(j).Call(nil)[0]
			for n := range kinds.NumMethod() {
				one := kinds.Method(n).Call(nil)[0]
				list := one.MethodByName("Lister").Call(nil)[0].MethodByName("List")
				all = append(all, accessorOf{
					name:     group.Name + "." + versions.Type().Method(j).Name + "." + kinds.Type().Method(n).Name,
					informer: one.MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer),
					list: func(s labels.Selector) (any, error) {
						result := list.Call([]reflect.Value{reflect.ValueOf(s)})
						err, _ := result[1].Interface().(error)
						return result[0].Interface(), err
					},
				})
			}
		}
	}
	return all
}

// Every accessor of every group has its own informer, and the informer works.
func TestEveryAccessor(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewSimpleClientset() // NewClientset knows no objects without a schema
		f := NewSharedInformerFactory(client, 0)
		all := accessorsOf(f)
		require.Len(t, all, 147)
		require.Len(t, f.entries, 147, "one each")
		for _, k := range builtin() {
			require.NoError(t, client.Tracker().Create(k.resource, newObject(k, "first"), namespaceIn(k)), k.resource)
		}
		begin(t, ctx, f)
		seen := make(map[reflect.Type]bool)
		for _, a := range all {
			objects := a.informer.GetStore().List()
			require.Len(t, objects, 1, a.name)
			seen[reflect.TypeOf(objects[0])] = true
			listed, err := a.list(labels.Everything())
			require.NoError(t, err, a.name)
			require.Equal(t, 1, reflect.ValueOf(listed).Len(), a.name)
			require.Same(t, objects[0], reflect.ValueOf(listed).Index(0).Interface(), a.name)
		}
		require.Len(t, seen, 147)
	})
}

func namespaceIn(k kind) string {
	if k.namespaced {
		return "prod"
	}
	return ""
}

// The informer of every kind gets the existing objects and the changes.
func TestEveryKind(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewSimpleClientset()
		f := NewSharedInformerFactory(client, 0)
		recorded := make(map[schema.GroupVersionResource]*[]string)
		for _, k := range builtin() {
			require.NoError(t, client.Tracker().Create(k.resource, newObject(k, "first"), namespaceIn(k)), k.resource)
			i, err := f.ForResource(k.resource)
			require.NoError(t, err)
			mine := new([]string)
			recorded[k.resource] = mine
			_, err = i.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				*mine = append(*mine, obj.(metav1.Object).GetName())
			}})
			require.NoError(t, err)
		}
		begin(t, ctx, f)
		synced := f.WaitForCacheSync(ctx.Done())
		require.Len(t, synced, 147)
		for object, ok := range synced {
			require.True(t, ok, object)
		}
		for _, k := range builtin() {
			require.NoError(t, client.Tracker().Create(k.resource, newObject(k, "second"), namespaceIn(k)), k.resource)
		}
		synctest.Wait()
		for _, k := range builtin() {
			i, err := f.ForResource(k.resource)
			require.NoError(t, err)
			objects, err := i.Lister().List(labels.Everything())
			require.NoError(t, err)
			require.Len(t, objects, 2, k.resource)
			lister := cache.GenericNamespaceLister(i.Lister())
			if k.namespaced {
				lister = i.Lister().ByNamespace("prod")
			}
			obj, err := lister.Get("second")
			require.NoError(t, err, k.resource)
			require.Equal(t, k.object, reflect.TypeOf(obj))
			require.Equal(t, []string{"first", "second"}, *recorded[k.resource], k.resource)
		}
	})
}

// Every kind that informertest serves works over HTTP.
func TestEveryKindOverHTTP(t *testing.T) {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	require.NoError(t, server.Start())
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	f := NewSharedInformerFactory(client, 0)

	created := make(map[reflect.Type]runtime.Object)
	for _, k := range builtin() {
		obj := newObject(k, "first")
		if server.Create(t.Context(), obj) != nil {
			continue // not served
		}
		created[k.object] = obj
		_, err := f.ForResource(k.resource)
		require.NoError(t, err)
	}
	require.NotEmpty(t, created)
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	defer f.Shutdown()
	defer cancel()
	require.NoError(t, f.WaitForCacheSyncWithContext(ctx).Err)
	for object, obj := range created {
		stored := f.entries[key[reflect.Type]{kind: object}].shared.GetStore().List()
		require.Len(t, stored, 1, object)
		want, err := meta.Accessor(obj)
		require.NoError(t, err)
		got, err := meta.Accessor(stored[0])
		require.NoError(t, err)
		require.Equal(t, want.GetUID(), got.GetUID(), object)
	}
	t.Logf("%d kinds", len(created))
}
