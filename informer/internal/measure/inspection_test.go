package measure

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSlowCallsOfLongAgoMakeRoom(t *testing.T) {
	var s slowCalls
	for n := range MostSlow {
		s.add(eventlog.Subject{}, time.Duration(n), time.Hour)
	}
	s.add(eventlog.Subject{}, 3*time.Hour, time.Second)
	require.Equal(t, slowCalls{{at: 3 * time.Hour, took: time.Second}}, s)
}

// Recent changes that are read in the middle of a long write section have no gap.
func TestRecentIsReadInTheMidstOfASection(t *testing.T) {
	r := RecentEvents{epoch: newEpoch()}
	for n := range 3000 {
		r.Note(1, indexer.Key{Name: "a"}, fmt.Sprint(n))
		if n == 250 {
			r.Show() // the end of the previous section
		}
		recent := r.All()
		for i := 1; i < len(recent); i++ {
			var before, version int
			_, _ = fmt.Sscan(recent[i-1].Version, &before)
			_, _ = fmt.Sscan(recent[i].Version, &version)
			require.Equal(t, before+1, version)
		}
	}
}

// The measurements of an informer with ten handlers take less than 64 kB.
func TestTheMeasuresAreSmall(t *testing.T) {
	m := New(0, Moment{})
	for range 3 * MostMoments {
		m.Note(Moment{At: time.Now()})
	}
	require.Len(t, m.History(), MostMoments)
	size := unsafe.Sizeof(*m) + uintptr(cap(m.marks.kept))*unsafe.Sizeof(mark{}) + uintptr(cap(m.moments))*unsafe.Sizeof(Moment{})
	handler := unsafe.Sizeof(Stopwatch{}) + 2*MostSlow*unsafe.Sizeof(slowCall{})
	require.Less(t, size+10*handler, uintptr(64<<10)-4<<10, "and 4 kB for the text of keys")
}
