package measure

import (
	"slices"
	"time"
)

// mostMarks is the largest number of marks.
const mostMarks = 1024

// mark records a position of the log, and the time at which the log reached it.
type mark struct {
	position uint64
	at       time.Duration
}

// marks give the age of a log's events. They have the log's position at each second. If there are too many,
// they are thinned: the gap between two marks is a second at first, and grows to a few hundredths of their
// age.
//
// Invariant: positions and times both increase.
type marks struct{ kept []mark }

func newMarks() marks { return marks{make([]mark, 0, mostMarks)} }

// add records a position of the log, unless the log has not moved.
func (m *marks) add(position uint64, at time.Duration) {
	if n := len(m.kept); n > 0 && m.kept[n-1].position >= position {
		return
	}
	for share := time.Duration(64); len(m.kept) == mostMarks; share /= 2 {
		m.thin(at, share)
	}
	m.kept = append(m.kept, mark{position, at})
}

// thin drops each mark that leaves a gap of at most its age divided by share. The events in the gap then
// appear younger than they are. With share 1, thin drops at least one of mostMarks marks.
func (m *marks) thin(now, share time.Duration) {
	kept := m.kept[:1]
	for i := 1; i < len(m.kept); i++ {
		if last := i == len(m.kept)-1; last || m.kept[i+1].at-kept[len(kept)-1].at > (now-m.kept[i+1].at)/share {
			kept = append(kept, m.kept[i])
		}
	}
	m.kept = kept
}

// noted returns the time of the first mark after a position. The event at the position existed by then. It
// returns false if the event is younger than the last mark.
func (m *marks) noted(position uint64) (at time.Duration, ok bool) {
	i, _ := slices.BinarySearchFunc(m.kept, position, func(m mark, position uint64) int {
		if m.position > position {
			return 1
		}
		return -1
	})
	if i == len(m.kept) {
		return 0, false
	}
	return m.kept[i].at, true
}
