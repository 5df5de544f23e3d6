package controllerruntime

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// reading returns a Deployment that reads a Secret.
func reading(namespace, name, secret string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}}
	return d
}

// viewed returns the informers of a running manager that caches Deployments.
func viewed(t *testing.T, s *informertest.Server, o ctrl.Options) *Informers {
	t.Helper()
	byName := indexer.Index[*appsv1.Deployment]{Name: "name", Append: func(values []string, d *appsv1.Deployment) []string { return append(values, d.Name) }}
	m, err := NewManager(s.ClientConfig(), o, Indexes(&appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment](), byName))
	require.NoError(t, err)
	runs(t, m)
	_, err = m.GetCache().GetInformer(t.Context(), &appsv1.Deployment{})
	require.NoError(t, err)
	return InformersOf(m)
}

func keysOf(found []*appsv1.Deployment) (keys []string) {
	for _, d := range found {
		keys = append(keys, client.ObjectKeyFromObject(d).String())
	}
	slices.Sort(keys)
	return keys
}

// A view reads one cache of all namespaces, or the caches of several.
func TestView(t *testing.T) {
	several := map[string]cache.Config{"a": {}, "b": {}}
	for name, row := range map[string]struct {
		namespaces map[string]cache.Config
		all, tls   []string
	}{
		"all namespaces": {nil, []string{"a/web", "b/db", "b/web", "c/web"}, []string{"a/web", "b/db"}},
		"several":        {several, []string{"a/web", "b/db", "b/web"}, []string{"a/web", "b/db"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := newServer(t), quiet()
			for _, d := range []*appsv1.Deployment{reading("a", "web", "tls"), reading("b", "web", "other"), reading("b", "db", "tls"), reading("c", "web", "other")} {
				require.NoError(t, s.Create(t.Context(), d))
			}
			o.Cache.DefaultNamespaces = row.namespaces
			in := viewed(t, s, o)
			v, err := View[*appsv1.Deployment](in)
			require.NoError(t, err)
			require.Equal(t, row.all, keysOf(slices.Collect(v.All())))
			require.Equal(t, row.all, keysOf(v.List("", nil)))
			require.Equal(t, []string{"b/db", "b/web"}, keysOf(v.List("b", nil)))
			require.Equal(t, []string{"b/db"}, keysOf(v.List("b", labels.SelectorFromSet(labels.Set{"app": "db"}))))
			d, ok := v.Get(client.ObjectKey{Namespace: "b", Name: "db"})
			require.True(t, ok)
			again, _ := v.Get(client.ObjectKey{Namespace: "b", Name: "db"})
			require.Same(t, d, again, "the cache's own")
			_, ok = v.Get(client.ObjectKey{Namespace: "b", Name: "none"})
			require.False(t, ok)
			found, err := v.Find(indexer.Query{Fields: map[string]string{"name": "db"}})
			require.NoError(t, err)
			require.Equal(t, []string{"b/db"}, keysOf(slices.Collect(found)))
			var tls []string
			for _, namespace := range []string{"a", "b", "c"} {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tls"}}
				found, err := v.Find(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: namespace, Name: "tls"}))
				require.NoError(t, err)
				tls = append(tls, keysOf(slices.Collect(found))...)
				for _, r := range Referrers[*appsv1.Deployment](in)(t.Context(), secret) {
					require.Contains(t, row.tls, r.String())
				}
			}
			require.Equal(t, row.tls, tls)
			_, err = v.Find(indexer.Query{Fields: map[string]string{"unknown": "x"}})
			require.ErrorIs(t, err, indexer.ErrUnknownIndex)
			for range v.All() {
				break // a loop may end early
			}
		})
	}
}

// What cannot be viewed is an error that says what to do.
func TestViewOfWhatIsNotCached(t *testing.T) {
	s := newServer(t)
	m, err := NewManager(s.ClientConfig(), quiet())
	require.NoError(t, err)
	in := InformersOf(m)
	_, err = View[*corev1.Pod](in)
	require.ErrorIs(t, err, ErrNotCached)
	require.ErrorContains(t, err, "let a controller watch")
	runs(t, m)
	for kind, form := range map[string]client.Object{
		"*v1.PartialObjectMetadata":  metadata(corev1.SchemeGroupVersion.WithKind("Pod")),
		"*unstructured.Unstructured": untyped(corev1.SchemeGroupVersion.WithKind("Secret")),
	} {
		_, err := m.GetCache().GetInformer(t.Context(), form)
		require.NoError(t, err)
		if kind == "*v1.PartialObjectMetadata" {
			_, err = View[*corev1.Pod](in)
		} else {
			_, err = View[*corev1.Secret](in)
		}
		require.ErrorIs(t, err, ErrNotCached)
		require.ErrorContains(t, err, "as "+kind+", not as")
	}
	_, err = View[*metav1.PartialObjectMetadata](in)
	require.ErrorContains(t, err, "does not name a kind")
	_, err = View[*unstructured.Unstructured](in)
	require.ErrorContains(t, err, "does not name a kind")
	_, err = View[client.Object](in)
	require.ErrorIs(t, err, ErrNotCached)
	_, err = View[*corev1.Pod](nil)
	require.ErrorIs(t, err, errForeign)
	require.Len(t, slices.Collect(in.All()), 2, "no view made an informer")
}

// A view of what is not listed yet is an error. Referrers uses what is there.
func TestViewBeforeTheList(t *testing.T) {
	synctest.Test(t, viewBeforeTheList)
}

func viewBeforeTheList(t *testing.T) {
	s := newServer(t)
	m, err := NewManager(s.ClientConfig(), quiet(), Indexes(&appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment]()))
	require.NoError(t, err)
	runs(t, m)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "tls"}}
	lines := logged.Count("are not requested")
	require.Empty(t, Referrers[*appsv1.Deployment](InformersOf(m))(t.Context(), secret))
	require.Equal(t, 1, logged.Count("are not requested")-lines, "none is cached")

	goOn := s.Stall(informertest.Request{Resource: "deployments"})
	i, err := m.GetCache().GetInformer(t.Context(), &appsv1.Deployment{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	synctest.Wait()
	_, err = View[*appsv1.Deployment](InformersOf(m))
	require.ErrorIs(t, err, informer.ErrNotSynced)
	require.Empty(t, Referrers[*appsv1.Deployment](InformersOf(m))(t.Context(), secret))
	require.Equal(t, 1, logged.Count("are not requested")-lines)
	require.NoError(t, s.Create(t.Context(), reading("a", "web", "tls")))
	goOn()
	require.NoError(t, i.(informer.Shared).WaitSynced(t.Context()))
	require.Equal(t, []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "a", Name: "web"}}}, Referrers[*appsv1.Deployment](InformersOf(m))(t.Context(), secret))
	unknown := &unstructured.Unstructured{}
	require.Empty(t, Referrers[*appsv1.Deployment](InformersOf(m))(t.Context(), unknown))
	require.Equal(t, 2, logged.Count("are not requested")-lines, "an object without a kind")
}
