package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// of returns a selector for the label app.
func of(app string) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": app}) }

func TestDefaultNamespaces(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"), pod("b", "one", "web"), pod("c", "one", "web"), node("n1"))
		c := r.started(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}})

		assert.Equal(t, []string{"a/one", "b/one"}, f.pods(t, c))
		assert.Equal(t, []string{"b/one"}, f.pods(t, c, client.InNamespace("b")))
		assert.Len(t, f.pods(t, c, client.Limit(1)), 1)
		require.ErrorContains(t, c.List(t.Context(), f.list(podKind), client.InNamespace("c")), "unknown namespace")
		require.ErrorContains(t, c.Get(t.Context(), client.ObjectKey{Namespace: "c", Name: "one"}, f.pod()), "unknown namespace")
		r.watches(t, 2)
		var n corev1.Node
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "n1"}, &n))
		r.watches(t, 3)

		r.create(t, pod("a", "two", "db"))
		f.has(t, c, []string{"a/one", "a/two", "b/one"})
	})
}

// An informer for several namespaces consists of several informers, and passes every call to each of
// them.
func TestInformerOfNamespaces(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"), pod("b", "two", "web"), pod("c", "three", "web"))
		c := r.started(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}})
		i := informerOf(t, c, f)
		assert.True(t, i.HasSynced())
		receive(t, i.HasSyncedChecker().Done())
		assert.Contains(t, i.HasSyncedChecker().Name(), "a: ")
		recorded, registration := handle(t, i)
		receive(t, registration.HasSyncedChecker().Done())
		assert.True(t, registration.HasSynced())
		assert.Len(t, recorded.recorded(), 2)
		require.NoError(t, c.IndexField(t.Context(), f.pod(), "app", byApp))
		assert.Equal(t, []string{"a/one", "b/two"}, f.pods(t, c, app("web")))

		require.NoError(t, i.RemoveEventHandler(registration))
		require.NoError(t, c.RemoveInformer(t.Context(), f.pod()))
		r.watches(t, 0)
		await(t, "both to stop", i.IsStopped)
	})
}

// Settings for all namespaces apply to namespaces that have no settings.
func TestAllOtherNamespaces(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "web", "web"), pod("a", "db", "db"), pod("b", "web", "web"), pod("b", "db", "db"), pod("c", "web", "web"))
		c := r.started(t, cache.Options{DefaultNamespaces: map[string]cache.Config{
			"a":                 {LabelSelector: of("web")},
			cache.AllNamespaces: {},
		}})
		assert.Equal(t, []string{"a/web", "b/db", "b/web", "c/web"}, f.pods(t, c))
		assert.Equal(t, []string{"c/web"}, f.pods(t, c, client.InNamespace("c")))
	})
}

func TestSelectorsByObject(t *testing.T) {
	pods := func(by cache.ByObject) cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: by}}
	}
	for name, c := range map[string]struct {
		options cache.Options
		want    []string
	}{
		"label":               {pods(cache.ByObject{Label: of("web")}), []string{"a/web", "b/web"}},
		"field":               {pods(cache.ByObject{Field: fields.OneTermEqualSelector("spec.nodeName", "db")}), []string{"a/db", "b/db"}},
		"name":                {pods(cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", "db")}), []string{"a/db", "b/db"}},
		"namespace":           {pods(cache.ByObject{Namespaces: map[string]cache.Config{"a": {}}}), []string{"a/db", "a/web"}},
		"namespace by field":  {pods(cache.ByObject{Field: fields.OneTermEqualSelector("metadata.namespace", "b")}), []string{"b/db", "b/web"}},
		"namespaces":          {pods(cache.ByObject{Namespaces: map[string]cache.Config{"a": {LabelSelector: of("web")}, "b": {LabelSelector: of("db")}}}), []string{"a/web", "b/db"}},
		"default label":       {cache.Options{DefaultLabelSelector: of("db")}, []string{"a/db", "b/db"}},
		"default field":       {cache.Options{DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", "web")}, []string{"a/web", "b/web"}},
		"no default for pods": {cache.Options{DefaultLabelSelector: of("none"), ByObject: pods(cache.ByObject{Label: labels.Everything()}).ByObject}, []string{"a/db", "a/web", "b/db", "b/web"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				moves := pod("a", "web", "web")
				r.create(t, moves, pod("a", "db", "db"), pod("b", "web", "web"), pod("b", "db", "db"))
				cached := r.started(t, c.options)
				assert.Equal(t, c.want, typed.pods(t, cached))
				if name != "label" {
					return
				}
				moves.Labels["app"] = "other" // so that it leaves the cache
				r.update(t, moves)
				typed.has(t, cached, c.want[1:])
			})
		})
	}
}
