package informertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/shard"
)

// The objects of a test are divided evenly among shards, like those of a real server.
func TestUIDsDivideEvenly(t *testing.T) {
	for _, total := range []int{2, 3, 4, 16} {
		for index := range total {
			share, err := shard.Nth(shard.ByUID, index, total)
			require.NoError(t, err)
			n := 0
			for version := range uint64(1600) {
				if share.Has("", uidOf(version+2)) {
					n++
				}
			}
			require.InEpsilon(t, 1600/total, n, 0.4, "%d/%d", index, total)
		}
	}
}
