package eventlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

func TestABatchTellsWhomItsEventsAreAbout(t *testing.T) {
	a, b := pod("a", "1", "1"), pod("b", "2", "2")
	l := New()
	c := l.Published()
	appendAll(l, add(a), update(b, pod("b", "2", "3")), remove(a, a))
	l.AppendAs(Event{Header: Header{Deleted, Lost | NotStored}}, Identity{Key: keyOf("unknown")})
	l.Publish()
	batch := NewBatch(10)
	require.Equal(t, indexer.Key{}, batch.Behind().Key(), "nothing was told")
	require.True(t, c.Take(batch, 100))
	for _, name := range []string{"a", "b", "a", "unknown"} {
		require.Equal(t, keyOf(name), batch.Ahead().Key())
		batch.Next()
		require.Equal(t, keyOf(name), batch.Behind().Key())
	}
	require.Equal(t, keyOf("unknown"), c.Behind().Key())
	require.Equal(t, indexer.Key{}, New().Published().Behind().Key())
}
