package controllerruntime

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byApp indexes pods of any flavour by the label app, and byLetters by the letters of their names.
func byApp(o client.Object) []string     { return []string{o.GetLabels()["app"]} }
func byLetters(o client.Object) []string { return strings.Split(o.GetName(), "") }

func app(name string) client.ListOption { return client.MatchingFields{"app": name} }

func TestIndexAddedBeforeTheStart(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"), pod("a", "two", "db"), pod("b", "one", "web"))
		c := r.cache(t, cache.Options{})
		require.NoError(t, c.IndexField(t.Context(), f.pod(), "app", byApp))
		t.Cleanup(r.start(t, c))
		require.True(t, c.WaitForCacheSync(t.Context()))
		assert.Equal(t, []string{"a/one", "b/one"}, f.pods(t, c, app("web")))
	})
}

func TestIndexAddedAfterTheStart(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		one := pod("a", "one", "web")
		r.create(t, one, pod("a", "two", "db"), pod("b", "one", "web"))
		c := r.started(t, cache.Options{})
		assert.Len(t, f.pods(t, c), 3)
		require.NoError(t, c.IndexField(t.Context(), f.pod(), "app", byApp))
		require.NoError(t, c.IndexField(t.Context(), f.pod(), "letter", byLetters))
		require.Error(t, c.IndexField(t.Context(), f.pod(), "app", byApp), "twice")

		assert.Equal(t, []string{"a/one", "b/one"}, f.pods(t, c, app("web")))
		assert.Equal(t, []string{"a/one"}, f.pods(t, c, app("web"), client.InNamespace("a")))
		assert.Empty(t, f.pods(t, c, app("none")))
		assert.Equal(t, []string{"a/one", "a/two", "b/one"}, f.pods(t, c, client.MatchingFields{"letter": "o"}))
		both := client.MatchingFieldsSelector{Selector: fields.AndSelectors(fields.OneTermEqualSelector("letter", "n"), fields.OneTermEqualSelector("app", "web"))}
		assert.Equal(t, []string{"a/one"}, f.pods(t, c, both, client.InNamespace("a")))
		inequality := client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("app", "web")}
		require.ErrorContains(t, c.List(t.Context(), f.list(podKind), inequality), "non-exact")

		one.Labels["app"] = "db"
		r.update(t, one)
		f.has(t, c, []string{"a/one", "a/two"}, app("db"))
		assert.Equal(t, []string{"b/one"}, f.pods(t, c, app("web")))
		r.remove(t, one)
		f.has(t, c, []string{"a/two"}, app("db"))
		r.create(t, pod("b", "three", "db"))
		f.has(t, c, []string{"a/two", "b/three"}, app("db"))
	})
}

// Adding an index does not wait for the server.
func TestIndexIsAddedWithoutWaiting(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{})
		r.gate.shut()
		require.NoError(t, c.IndexField(t.Context(), &corev1.Pod{}, "app", byApp))
		i, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		assert.False(t, i.HasSynced())
	})
}

func TestIndexOfClusterScopedObjects(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		n := node("n1")
		n.Spec.ProviderID = "cloud"
		r.create(t, n, node("n2"))
		c := r.started(t, cache.Options{})
		var list corev1.NodeList
		require.NoError(t, c.List(t.Context(), &list))
		require.NoError(t, c.IndexField(t.Context(), &corev1.Node{}, "provider", func(o client.Object) []string {
			return []string{o.(*corev1.Node).Spec.ProviderID}
		}))
		require.NoError(t, c.List(t.Context(), &list, client.MatchingFields{"provider": "cloud"}))
		require.Len(t, list.Items, 1)
		assert.Equal(t, "n1", list.Items[0].Name)
	})
}

// Indexes can be added while objects change and are read.
func TestIndexIsAddedWhileObjectsChange(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.started(t, cache.Options{})
		assert.Empty(t, typed.pods(t, c))
		ctx, cancel := context.WithCancel(t.Context())
		written := make(chan error, 1)
		one := pod("a", "one", "web")
		r.create(t, one)
		go func() {
			var err error
			for err == nil && ctx.Err() == nil {
				one.Labels["app"] = map[string]string{"web": "db", "db": "web"}[one.Labels["app"]]
				err = r.server.Update(context.WithoutCancel(ctx), one)
			}
			written <- err
		}()
		for _, field := range strings.Split("abcdefghij", "") {
			require.NoError(t, c.IndexField(t.Context(), &corev1.Pod{}, field, byApp))
			assert.LessOrEqual(t, len(typed.pods(t, c, client.MatchingFields{field: "web"})), 1)
		}
		cancel()
		require.NoError(t, receive(t, written))
		for _, field := range strings.Split("abcdefghij", "") {
			typed.has(t, c, []string{"a/one"}, client.MatchingFields{field: one.Labels["app"]})
		}
	})
}
