package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// marked returns the marks of a log that grows by one event a second, with a mark each second.
func marked(seconds int) (m marks) {
	m = newMarks()
	for i := range seconds {
		m.add(uint64(i+1), time.Duration(i)*time.Second)
	}
	return m
}

func TestMarksKeepTheTimeOfAnEvent(t *testing.T) {
	m := marked(10)
	for position := range uint64(10) {
		at, ok := m.noted(position)
		require.True(t, ok)
		require.Equal(t, time.Duration(position)*time.Second, at) //nolint:gosec // small
	}
	_, ok := m.noted(10)
	require.False(t, ok, "it has come since the last mark")
	_, ok = new(marks).noted(0)
	require.False(t, ok)
}

func TestALogThatDoesNotMoveIsMarkedOnce(t *testing.T) {
	m := newMarks()
	for i := range 10 {
		m.add(7, time.Duration(i+1))
	}
	require.Equal(t, []mark{{7, 1}}, m.kept)
}

// The number of marks is limited, and the error of an event's time stays small in proportion to its age.
func TestManyMarksAreThinned(t *testing.T) {
	const day = 24 * 60 * 60
	m := marked(day)
	require.Equal(t, mostMarks, cap(m.kept))
	for position := range uint64(day) {
		at, ok := m.noted(position)
		require.True(t, ok)
		age, recorded := day-int(position), day-int(at/time.Second) //nolint:gosec // small
		require.LessOrEqual(t, recorded, age, "never older than it is")
		require.LessOrEqual(t, age-recorded, max(1, age/32), "%d s ago", age)
	}
	for i := 1; i < len(m.kept); i++ {
		require.Greater(t, m.kept[i].position, m.kept[i-1].position)
		require.Greater(t, m.kept[i].at, m.kept[i-1].at)
	}
}
