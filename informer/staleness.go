package informer

import "time"

// received records a batch of changes, or a bookmark, that ends with a numbered delta.
func (s *status) received(part uint16, bookmark bool, number uint64) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.parts[part]
	p.receipts.add(receipt{now, number}, s.applied[part].Load())
	if bookmark {
		p.lastBookmark = now
	} else {
		p.lastEvent = now
	}
}

// answered records a complete answer of the server, whatever its content, that ends with a numbered
// delta.
func (s *status) answered(part uint16, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts[part].receipts.add(receipt{time.Now(), number}, s.applied[part].Load())
}

// confirmed returns the time at which the server last confirmed the store's state of a part. The caller
// holds mu.
func (s *status) confirmed(part int) time.Time {
	return s.parts[part].receipts.confirmed(s.applied[part].Load())
}

// countApplied counts applied deltas of a part: an answer confirms the store once it is applied.
func (s *status) countApplied(part uint16, n int) { s.applied[part].Add(uint64(n)) } //nolint:gosec // never negative

// bookmarkPeriod is how often an API server sends bookmarks, at least.
const bookmarkPeriod = time.Minute

// staleLocked reports whether the store has got nothing from a source for too long. Of a resource that
// is not served, nothing is to be heard. The caller holds mu.
func (s *status) staleLocked() bool {
	for i, p := range s.parts {
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
