package factory

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var widgetType = reflect.TypeFor[*widget]()

func TestRegister(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("prod", "one", "red")))
		f := NewSharedInformerFactory(fake.NewClientset(), 0)
		_, err := For[*widget](f)
		require.ErrorIs(t, err, ErrUnknownKind)
		require.ErrorContains(t, err, "Register")
		require.ErrorIs(t, Configure(f, informer.Options[*widget]{}), ErrUnknownKind)

		require.NoError(t, Register[*widget](f, widgetsOf(server)))
		require.ErrorIs(t, Register[*widget](f, widgetsOf(server)), ErrRegistered)
		elsewhere := widgetsOf(server)
		elsewhere.GVR.Resource = "gadgets"
		require.ErrorIs(t, Register[*widget](f, elsewhere), ErrRegistered, "the type is")
		require.ErrorIs(t, Register[*corev1.Pod](f, widgetsOf(server)), ErrRegistered)
		for _, bad := range []Resource{
			{},
			{GVR: schema.GroupVersionResource{Version: "v1"}, Source: elsewhere.Source},
			{GVR: schema.GroupVersionResource{Resource: "widgets"}, Source: elsewhere.Source},
			{GVR: widgetResource},
		} {
			require.ErrorIs(t, Register[*widget](f, bad), ErrResource)
		}

		widgets, err := For[*widget](f)
		require.NoError(t, err)
		generic, err := f.ForResource(widgetResource)
		require.NoError(t, err)
		begin(t, ctx, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[widgetType])
		one, err := widgets.Lister().Namespace("prod").Get("one")
		require.NoError(t, err)
		require.Equal(t, "red", one.Color)
		same, err := generic.Lister().ByNamespace("prod").Get("one")
		require.NoError(t, err)
		require.Same(t, one, same)
		_, err = widgets.Lister().Namespace("prod").Get("two")
		require.EqualError(t, err, `widgets.example.com "two" not found`)
	})
}

// A resource that a built-in kind or another type has cannot be registered, either.
func TestRegisterResourceTwice(t *testing.T) {
	f := NewSharedInformerFactory(nil, 0)
	pods := Resource{GVR: corev1.SchemeGroupVersion.WithResource("pods"), Source: func(string) (reflector.Source, error) { return reflector.Source{}, nil }}
	err := Register[*widget](f, pods)
	require.ErrorIs(t, err, ErrRegistered)
	require.ErrorContains(t, err, "pods")
}

// A resource without namespaces ignores the factory's namespace.
func TestRegisterClusterScoped(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactoryWithOptions(nil, 0, WithNamespace("prod"))
		var asked []string
		require.NoError(t, Register[*widget](f, Resource{GVR: widgetResource, Source: func(namespace string) (reflector.Source, error) {
			asked = append(asked, namespace)
			return reflector.Source{}, nil
		}}))
		widgets, err := For[*widget](f)
		require.NoError(t, err)
		require.Empty(t, asked, "nothing runs")
		begin(t, ctx, f)
		require.Equal(t, []string{""}, asked)
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		require.ErrorIs(t, widgets.WaitSynced(short), informer.ErrNoSource)
		_, err = Acquire[*widget](f, Scope{Namespaces: []string{"a"}})
		require.ErrorIs(t, err, ErrScope)
	})
}

// An informer of a CRD that does not exist reports it, and waits.
func TestRegisterBeforeTheCRD(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		s := runtime.NewScheme()
		s.AddKnownTypeWithName(widgetVersion.WithKind("Widget"), &widget{})
		s.AddKnownTypeWithName(widgetVersion.WithKind("WidgetList"), &widgetList{})
		server := informertest.New(informertest.Options{Scheme: s})
		defer server.Close()
		f := newWidgetFactory(t, server)
		widgets, err := For[*widget](f)
		require.NoError(t, err)
		begin(t, ctx, f)
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err = widgets.WaitSynced(short)
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.ErrorContains(t, err, "could not find the requested resource")

		require.NoError(t, server.Register(informertest.Kind{GVR: widgetResource, GVK: widgetVersion.WithKind("Widget"), Namespaced: true}))
		require.NoError(t, server.Create(ctx, newWidget("prod", "one", "red")))
		require.NoError(t, widgets.WaitSynced(ctx))
		require.Equal(t, []string{"prod/one"}, names(widgets))
	})
}

func TestConfigure(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(newPod("prod", "web"), newNode("n1")), 0,
			WithTransform(func(any) (any, error) { return nil, errors.New("the factory's") }))
		var name string
		require.NoError(t, Configure(f, informer.Options[*corev1.Pod]{
			Name: "the pods",
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
				name = p.Name
				return p, nil
			},
		}))
		pods, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		require.ErrorIs(t, Configure(f, informer.Options[*corev1.Pod]{}), informer.ErrRunning)
		begin(t, ctx, f)
		require.Equal(t, "the pods", pods.Status().Name)
		require.Equal(t, "web", name, "the type's transform goes before the factory's")
		require.Equal(t, 1, pods.Indexer().Len())

		l, err := Acquire[*corev1.Node](f, Scope{Labels: "a=b"})
		require.NoError(t, err)
		defer l.Release()
		require.ErrorIs(t, Configure(f, informer.Options[*corev1.Node]{}), informer.ErrRunning, "one is made already")
	})
}

// For a registered type, generated accessors return our informer; for any other type, their own
// constructor's.
func TestGenerated(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("prod", "one", "red")))
		constructed := 0
		name, err := cache.NewInformerName("TestGenerated")
		require.NoError(t, err)
		f := newWidgetFactory(t, server, WithInformerName(name))
		defer f.Shutdown()
		run, end := context.WithCancel(ctx)
		defer end()

		generated := Generated[*widgetClient, newWidgetInformerFunc](f, &widgetClient{server})
		require.Same(t, name, generated.InformerName())
		accessor := widgets{generated, &constructed}
		shown := accessor.Informer()
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, mine.Shared(), shown)
		require.Zero(t, constructed)
		generated.Start(run.Done())
		require.NoError(t, mine.WaitSynced(ctx))
		require.Equal(t, []string{"prod/one"}, shown.GetStore().ListKeys())
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("prod", "one", "red")))
		constructed := 0
		f := NewSharedInformerFactoryWithOptions(nil, 0, WithTransform(func(obj any) (any, error) {
			obj.(*widget).Color = "green"
			return obj, nil
		}))
		accessor := widgets{Generated[*widgetClient, newWidgetInformerFunc](f, &widgetClient{server}), &constructed}
		theirs := accessor.Informer()
		require.Same(t, theirs, accessor.Informer())
		require.Equal(t, 1, constructed)
		_, err := For[*widget](f)
		require.ErrorIs(t, err, ErrForeign)
		begin(t, ctx, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[widgetType])
		require.Equal(t, "green", theirs.GetStore().List()[0].(*widget).Color)
		synctest.Wait()
	})
}

// A type whose options say nothing of the decoding is decoded as the factory says.
func TestConfigureKeepsTheFactorysDecoding(t *testing.T) {
	drop := func(field string) reflector.Decoding { return reflector.Decoding{Drop: []string{field}} }
	for name, row := range map[string]struct {
		configured reflector.Decoding
		want       string
	}{
		"zero": {reflector.Decoding{}, "kept"},
		"own":  {drop("metadata.annotations"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				one := newWidget("a", "one", "red")
				one.Annotations = map[string]string{"note": "kept"}
				require.NoError(t, server.Create(ctx, one))
				f := newWidgetFactory(t, server, WithDecoding(drop("color")))
				require.NoError(t, Configure(f, informer.Options[*widget]{PageSize: 10, Decoding: row.configured}))
				l := acquire(t, f, Scope{})
				begin(t, ctx, f)
				got, err := l.Informer().Lister().Namespace("a").Get("one")
				require.NoError(t, err)
				require.Equal(t, row.want, got.Annotations["note"])
				require.Equal(t, row.want == "", got.Color == "red", "the factory leaves out the color")
				l.Release()
			})
		})
	}
}
