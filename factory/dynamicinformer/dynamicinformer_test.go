package dynamicinformer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/factory"
)

func TestFactoriesAreOurs(t *testing.T) {
	require.IsType(t, &factory.DynamicFactory{}, NewDynamicSharedInformerFactory(nil, 0))
	require.IsType(t, &factory.DynamicFactory{}, NewFilteredDynamicSharedInformerFactory(nil, 0, "", nil))
}
