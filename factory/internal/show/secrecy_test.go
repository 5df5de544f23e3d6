package show

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/factory"
)

// The name of a Secret in a field selector is hidden, the name of a Pod is not.
func TestFieldsOfSecretsAreHidden(t *testing.T) {
	scope := factory.Scope{Namespaces: []string{"shop"}, Fields: "metadata.name=top-secret"}
	for resource, want := range map[string]string{"secrets": "in shop with some fields (hidden)", "": "in shop with some fields (hidden)", "pods": "in shop with metadata.name=top-secret"} {
		h := factory.Held{Scope: scope}
		if resource != "" {
			h.Resource = schema.GroupVersionResource{Version: "v1", Resource: resource}
		}
		shown, hidden := WithoutFields(h)
		require.Equal(t, want, shown.Scope.String()+hidden)
	}
}
