package show

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The names of Secrets are hidden, those of Pods are not.
func TestNamesOfSecretsAreHidden(t *testing.T) {
	failed := errors.New("Get /api/v1/secrets?fieldSelector=metadata.name=top-secret: refused")
	for resource, secret := range map[string]bool{"secrets": true, "": true, "pods": false} {
		of := factory.Held{
			Scope: factory.Scope{Namespaces: []string{"shop"}, Fields: "metadata.name=top-secret"},
			Status: informer.Status{
				Name: "secrets", LastError: failed, Failing: []informer.RecentError{{Class: reflector.ErrorForbidden, Err: failed}},
				Unindexed: 1, UnindexedErrors: []*indexer.IndexError{{Index: "owner", Key: indexer.Key{Namespace: "shop", Name: "top-secret"}, Err: failed}},
			},
		}
		if resource != "" {
			of.Resource = schema.GroupVersionResource{Version: "v1", Resource: resource}
		}
		h := WithoutNames(of)
		got := []string{h.Scope.String(), h.Status.LastError.Error(), h.Status.Failing[0].Err.Error(), Unindexed(h.Status)}
		want := []string{"in shop with metadata.name=top-secret", failed.Error(), failed.Error(), "1 object missing from an index: shop/top-secret from owner"}
		if secret {
			want = []string{"in shop with some fields (hidden)", "It failed. The error may name an object: see the log.", "The server does not allow it (403).", "1 object missing from an index: shop/(hidden) from owner"}
		}
		require.Equal(t, want, got)
		require.Equal(t, failed, of.Status.Failing[0].Err, "the status is the informer's own")
		require.Equal(t, "top-secret", of.Status.UnindexedErrors[0].Key.Name)
	}
}

func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"0": Number(0), "999": Number(999), "1,000": Number(1000), "1,234,567": Number(int64(1234567)), "18,446,744,073,709,551,615": Number(^uint64(0)),
		"1 event": Many(1, "event"), "2 events": Many(2, "event"), "1,000 events": Many(1000, "event"),
		"5 objects missing from an index: a from node, …": Unindexed(informer.Status{Unindexed: 5, UnindexedErrors: []*indexer.IndexError{{Index: "node", Key: indexer.Key{Name: "a"}}}}),
	} {
		require.Equal(t, want, got)
	}
}
