package metadatainformer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/factory"
)

func TestFactoriesAreOurs(t *testing.T) {
	require.IsType(t, &factory.MetadataFactory{}, NewSharedInformerFactory(nil, 0))
	require.IsType(t, &factory.MetadataFactory{}, NewFilteredSharedInformerFactory(nil, 0, "", nil))
	require.IsType(t, &factory.MetadataFactory{}, NewSharedInformerFactoryWithOptions(nil, 0))
}
