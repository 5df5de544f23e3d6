package factory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Several informers of one type exist at the same time, each as long as it is used.
func TestContract_D20_Scopes(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for _, w := range []*widget{newWidget("a", "one", "red"), newWidget("a", "two", "blue"), newWidget("b", "three", "red"), newWidget("c", "four", "red")} {
			require.NoError(t, server.Create(ctx, w))
		}
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		for _, test := range []struct {
			scope   Scope
			watches int
			want    []string
		}{
			{Scope{}, 1, []string{"a/one", "a/two", "b/three", "c/four"}},
			{Scope{Labels: "color=red"}, 1, []string{"a/one", "b/three", "c/four"}},
			{Scope{Labels: "color in (red),color!=blue"}, 1, []string{"a/one", "b/three", "c/four"}},
			{Scope{Fields: "metadata.name=two"}, 1, []string{"a/two"}},
			{Scope{Namespaces: []string{"a"}}, 1, []string{"a/one", "a/two"}},
			{Scope{Namespaces: []string{"b", "a"}, Labels: "color=red"}, 2, []string{"a/one", "b/three"}},
			{Scope{Namespaces: []string{"nowhere"}}, 1, nil},
		} {
			before := server.Watches()
			l := acquire(t, f, test.scope)
			require.NoError(t, l.Informer().WaitSynced(ctx))
			require.ElementsMatch(t, test.want, names(l.Informer()), test.scope)
			synctest.Wait()
			require.Equal(t, before+test.watches, server.Watches(), test.scope)
			l.Release()
			l.Release()
			synctest.Wait()
			require.Equal(t, before, server.Watches(), test.scope)
		}
		require.Empty(t, f.WaitForCacheSync(ctx.Done()), "leases are not the factory's own informers")
	})
}

// An informer of several namespaces is synced when all of them are.
func TestContract_D20_NamespaceListSyncsAsOne(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := NewSharedInformerFactory(nil, 0)
		resource := widgetsOf(server)
		open := make(chan struct{})
		resource.Source = func(namespace string) (reflector.Source, error) {
			if namespace == "b" {
				<-open
			}
			return server.Source(widgetResource, namespace), nil
		}
		require.NoError(t, Register[*widget](f, resource))
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
		require.False(t, l.Informer().Status().Synced)
		close(open)
		require.NoError(t, l.Informer().WaitSynced(ctx))
	})
}

// The zero scope is the informer of For and the accessors, which no release ends.
func TestContract_D20_ZeroScopeIsFors(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, l.Informer().Indexer(), mine.Indexer())
		l.Release()
		later := acquire(t, f, Scope{})
		require.Same(t, mine.Indexer(), later.Informer().Indexer())
		later.Release()
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 1, "it is the factory's own now, and runs")
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		l := acquire(t, f, Scope{})
		generic, err := f.ForResource(widgetResource)
		require.NoError(t, err)
		require.Same(t, l.Informer().Shared().GetStore(), generic.Informer().GetStore())
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		l.Release()
		begin(t, ctx, f)
		require.True(t, generic.Informer().HasSynced())
		require.Equal(t, 1, server.Watches())
	})
}

func TestContract_D20_BadScopes(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	for name, s := range map[string]Scope{
		"a namespace twice":     {Namespaces: []string{"a", "b", "a"}},
		"an empty namespace":    {Namespaces: []string{""}},
		"labels that are none":  {Labels: "color in"},
		"fields that are none":  {Fields: "metadata.name"},
		"both of them, in part": {Labels: "a=b", Fields: "c"},
	} {
		_, err := Acquire[*corev1.Pod](f, s)
		require.ErrorIs(t, err, ErrScope, name)
		require.ErrorContains(t, err, "*v1.Pod", name)
	}
	_, err := Acquire[*corev1.Node](f, Scope{Namespaces: []string{"a"}})
	require.ErrorIs(t, err, ErrScope)
	require.ErrorContains(t, err, "nodes has no namespaces")
	_, err = Acquire[*widget](f, Scope{})
	require.ErrorIs(t, err, ErrUnknownKind)
	require.Empty(t, f.entries)
}

// A scope restricts the objects further than the factory's tweak and namespace.
func TestContract_D20_InAFilteredFactory(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for _, w := range []*widget{newWidget("a", "one", "red"), newWidget("a", "two", "blue"), newWidget("b", "three", "red")} {
			require.NoError(t, server.Create(ctx, w))
		}
		f := newWidgetFactory(t, server, WithNamespace("a"), WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = "color=red" // replaces any other selector
		}))
		begin(t, ctx, f)
		for _, test := range []struct {
			scope Scope
			want  []string
		}{
			{Scope{}, []string{"a/one"}},
			{Scope{Labels: "color"}, []string{"a/one"}},
			{Scope{Labels: "color=blue"}, nil},
			{Scope{Namespaces: []string{"a"}}, []string{"a/one"}},
		} {
			l := acquire(t, f, test.scope)
			require.NoError(t, l.Informer().WaitSynced(ctx))
			require.Equal(t, test.want, names(l.Informer()), test.scope)
		}
	})
}

// The tweak of a registered source does not overwrite the selector of a scope.
func TestContract_D20_WithATweakOfTheSource(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		require.NoError(t, server.Create(ctx, newWidget("a", "two", "blue")))
		r := widgetsOf(server)
		untweaked := r.Source
		r.Source = func(namespace string) (reflector.Source, error) {
			source, err := untweaked(namespace)
			source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = "color" }
			return source, err
		}
		f := NewSharedInformerFactory(nil, 0)
		require.NoError(t, Register[*widget](f, r))
		l := acquire(t, f, Scope{Labels: "color=red"})
		begin(t, ctx, f)
		require.NoError(t, l.Informer().WaitSynced(ctx))
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
	})
}

// A factory of one namespace rejects a scope of another namespace.
func TestContract_D20_ScopesOutsideTheFactorys(t *testing.T) {
	f := newWidgetFactory(t, newWidgetServer(t), WithNamespace("a"))
	for _, namespaces := range [][]string{{"b"}, {"a", "b"}} {
		_, err := Acquire[*widget](f, Scope{Namespaces: namespaces})
		require.ErrorIs(t, err, ErrScope)
		require.ErrorContains(t, err, `"b"`)
		require.ErrorContains(t, err, `"a"`)
	}
	require.Zero(t, held(f))
	acquire(t, f, Scope{})
	acquire(t, f, Scope{Namespaces: []string{"a"}})
	require.Equal(t, 1, held(f), "they are the same")
}
