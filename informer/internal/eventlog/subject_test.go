package eventlog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABatchTellsWhomItsEventsAreAbout(t *testing.T) {
	a, b := pod("a", "1", "1"), pod("b", "2", "2")
	l := New()
	c := l.Published()
	appendAll(l, add(a), update(b, pod("b", "2", "3")), remove(a, a))
	l.Publish()
	batch := NewBatch(10)
	require.True(t, c.Take(batch, 100))
	for _, name := range []string{"a", "b", "a"} {
		require.Equal(t, keyOf(name), batch.Ahead().Key())
		batch.Next()
	}
}
