package ownwrites_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

func TestScope(t *testing.T) {
	key, of := indexer.Key{Namespace: "n", Name: "a"}, map[string]string{"app": "x"}
	const (
		unknown = ownwrites.Unknown
		inside  = ownwrites.Inside
		outside = ownwrites.Outside
	)
	for _, row := range []struct {
		query   string
		want    ownwrites.Scope
		selects bool
	}{
		{"", inside, false},
		{"resourceVersion=9&resourceVersionMatch=Exact&limit=500&continue=c&watch=true&timeoutSeconds=300&allowWatchBookmarks=true&sendInitialEvents=true", inside, false},
		{"labelSelector=", inside, false},
		{"labelSelector=app%3Dx", inside, true},
		{"labelSelector=app%3Dy", outside, true},
		{"labelSelector=app+in+%28x%2Cy%29", inside, true},
		{"labelSelector=%21app", outside, true},
		{"labelSelector=app%3Dx&labelSelector=app%3Dy", unknown, true},
		{"labelSelector=%28", unknown, true},
		{"fieldSelector=metadata.name%3Da", inside, true},
		{"fieldSelector=metadata.name%3D%3Db", outside, true},
		{"fieldSelector=metadata.name%21%3Da", outside, true},
		{"fieldSelector=metadata.namespace%3Dn%2Cmetadata.name%21%3Db", inside, true},
		{"fieldSelector=metadata.namespace%3Dm", outside, true},
		{"fieldSelector=spec.nodeName%3Dx", unknown, true},
		{"fieldSelector=spec.nodeName%3Dx%2Cmetadata.name%3Db", outside, true},
		{"fieldSelector=spec.nodeName%3Dx&labelSelector=app%3Dy", outside, true},
		{"fieldSelector=%3D%3D%3D", unknown, true},
		{"shardSelector=x", unknown, true},
		{"shardSelector=x&labelSelector=app%3Dy", outside, true},
		{"shardSelector=ours", inside, false},
		{"shardSelector=ours&labelSelector=app%3Dy", outside, true},
		{"shardSelector=ours&shardSelector=x", unknown, true},
	} {
		query, err := url.ParseQuery(row.query)
		require.NoError(t, err)
		s := ownwrites.ReadSelection(query, "ours")
		require.Equal(t, row.want, s.Scope(key, of), row.query)
		require.Equal(t, row.selects, s.Selects(), row.query)
	}
}

// A source that sends requests with two selections may exclude any object.
func TestTwoSelections(t *testing.T) {
	all := ownwrites.ReadSelection(url.Values{"limit": {"1"}}, "")
	x := ownwrites.ReadSelection(url.Values{"labelSelector": {"app=x"}, "watch": {"true"}}, "")
	again := ownwrites.ReadSelection(url.Values{"labelSelector": {"app=x"}, "shardSelector": {"s"}}, "s")
	of := map[string]string{"app": "x"}
	require.Equal(t, ownwrites.Inside, x.And(again).Scope(indexer.Key{}, of))
	for _, s := range []ownwrites.Selection{all.And(x), x.And(all), x.And(all).And(x)} {
		require.True(t, s.Selects())
		require.Equal(t, ownwrites.Unknown, s.Scope(indexer.Key{}, of))
	}
}

// The scope of an object agrees with the server's list for all selectors that both understand.
func TestScopeAgreesWithLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // of a test
	server := informertest.New(informertest.Options{})
	defer server.Close()
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var all []*corev1.ConfigMap
	for i := range 20 {
		all = append(all, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: one("n", "m"), Name: fmt.Sprintf("c%d", i%10), UID: types.UID(fmt.Sprint(i)), Labels: map[string]string{one("k", "l"): one("1", "2", "")},
		}})
	}
	stored := map[indexer.Key]map[string]string{}
	for _, c := range all {
		key := indexer.Key{Namespace: c.Namespace, Name: c.Name}
		if _, twice := stored[key]; !twice {
			require.NoError(t, server.Create(t.Context(), c))
			stored[key] = c.Labels
		}
	}
	for range 300 {
		query := url.Values{}
		if r.IntN(4) > 0 {
			query.Set("labelSelector", one("k", "!k", "k=1", "l!=2", "k in (1,2)", "l notin (1,)", "k=", "k,l", "k=1,l!=1"))
		}
		if r.IntN(3) > 0 {
			query.Set("fieldSelector", one("metadata.name=c1", "metadata.name!=c2", "metadata.namespace=n", "metadata.namespace!=n,metadata.name=c3"))
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/configmaps?"+query.Encode(), nil))
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		var list corev1.ConfigMapList
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
		listed := map[indexer.Key]bool{}
		for _, c := range list.Items {
			listed[indexer.Key{Namespace: c.Namespace, Name: c.Name}] = true
		}
		s := ownwrites.ReadSelection(query, "ours")
		for key, of := range stored {
			want := ownwrites.Outside
			if listed[key] {
				want = ownwrites.Inside
			}
			require.Equal(t, want, s.Scope(key, of), "%v of %v", key, query)
		}
	}
}
