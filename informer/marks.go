package informer

import (
	"slices"
	"time"
)

// mostMarks is how many marks are kept.
const mostMarks = 1024

// mark says that the log had come to a position at a time.
type mark struct {
	position uint64
	at       time.Duration
}

// marks tell how old the events of a log are, by its position at each second. Where there
// are too many, they are thinned: the gap between two is a second at first, and some
// hundredths of the age later.
//
// Invariant: positions and times both increase.
type marks struct{ kept []mark }

func newMarks() marks { return marks{make([]mark, 0, mostMarks)} }

// add notes the position that a log has come to. One that has not moved is not noted.
func (m *marks) add(position uint64, at time.Duration) {
	if n := len(m.kept); n > 0 && m.kept[n-1].position >= position {
		return
	}
	for share := time.Duration(64); len(m.kept) == mostMarks; share /= 2 {
		m.thin(at, share)
	}
	m.kept = append(m.kept, mark{position, at})
}

// thin drops a mark where the gap that it leaves is no larger than a share of its age. The
// events that were noted by it count as younger than they are. With a share of one, of a
// full number of marks there is always one to drop.
func (m *marks) thin(now, share time.Duration) {
	kept := m.kept[:1]
	for i := 1; i < len(m.kept); i++ {
		if last := i == len(m.kept)-1; last || m.kept[i+1].at-kept[len(kept)-1].at > (now-m.kept[i+1].at)/share {
			kept = append(kept, m.kept[i])
		}
	}
	m.kept = kept
}

// noted returns the time of the first mark behind a position: the event at that position
// was there by then. It returns false where the event has come since the last mark.
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
