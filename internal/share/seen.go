package share

import "slices"

const (
	leastSeen = 1 << 7
	mostSeen  = 1 << 16
)

// seen holds the fingerprints of values that were not found. Its buckets forget the oldest fingerprints.
// It grows while it forgets many.
type seen struct {
	buckets   [][bucket]uint32 // newest first; zero is empty; the number of buckets is a power of two
	forgotten int              // since the last growth
}

// before reports whether a hash has probably occurred before, and records it.
func (s *seen) before(hash uint64) bool {
	if s.buckets == nil {
		s.buckets = make([][bucket]uint32, leastSeen/bucket)
	}
	fingerprint := max(uint32(hash>>24), 1) //nolint:gosec // bits that choose neither the slot nor the sample
	if slices.Contains(s.of(fingerprint)[:], fingerprint) {
		return true
	}
	if s.remember(fingerprint); s.forgotten > len(s.buckets) && len(s.buckets) < mostSeen/bucket {
		s.grow()
	}
	return false
}

func (s *seen) remember(fingerprint uint32) {
	b := s.of(fingerprint)
	if b[bucket-1] != 0 {
		s.forgotten++
	}
	copy(b[1:], b[:])
	b[0] = fingerprint
}

func (s *seen) of(fingerprint uint32) *[bucket]uint32 {
	return &s.buckets[fingerprint&uint32(len(s.buckets)-1)] //nolint:gosec // at most mostSeen
}

func (s *seen) grow() {
	old := s.buckets
	*s = seen{buckets: make([][bucket]uint32, 2*len(old))}
	for i := range old {
		for _, f := range slices.Backward(old[i][:]) {
			if f != 0 {
				s.remember(f)
			}
		}
	}
}
