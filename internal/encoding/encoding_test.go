package encoding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
)

func TestACodecIsUsedUntilItIsRestored(t *testing.T) {
	require.Nil(t, Codec())
	one, other := new(fakecodec.Codec), new(fakecodec.Codec)
	restoreOne := Use(one)
	require.Same(t, one, Codec())
	restoreOther := Use(other)
	require.Same(t, other, Codec())
	restoreOther()
	require.Same(t, one, Codec())
	restoreOne()
	require.Nil(t, Codec())
}
