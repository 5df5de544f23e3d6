package engine

import "time"

// confirmed returns the time when the server last confirmed the store's state of a source. The caller holds
// mu.
func (s *status) confirmed(source int) time.Time {
	return s.bySource[source].receipts.confirmed(s.applied[source].Load())
}

// countApplied counts applied deltas of a source. An answer confirms the store once its deltas are applied.
func (s *status) countApplied(source uint16, n int) { s.applied[source].Add(uint64(n)) } //nolint:gosec // never negative

// bookmarkPeriod is the longest time between two bookmarks of an API server.
const bookmarkPeriod = time.Minute

// staleLocked reports whether the store has got nothing from a source for too long. A resource that is not
// served does not count. The caller holds mu.
func (s *status) staleLocked() bool {
	for i, p := range s.bySource {
		if p.absent() {
			continue
		}
		confirmed := s.confirmed(i)
		heard, patience := confirmed, 2*bookmarkPeriod
		if p.lastBookmark.IsZero() {
			heard, patience = later(confirmed, p.opened), s.watchLasts
		}
		if !confirmed.IsZero() && time.Since(heard) > patience {
			return true
		}
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
