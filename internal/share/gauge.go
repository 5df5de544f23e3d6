package share

const (
	// window is the number of values after which a gauge decides. It is long
	// enough for the owners of a cluster to come round even where the values of
	// one object fill many places of it.
	window = 1 << 15
	// burst is how much of a window is looked up whatever the gauge says, and
	// sampleBits chooses one value in 16 that always is.
	burst      = window / 16
	sampleBits = 4
	// worthwhile is the part of the look-ups that must meet a value again.
	worthwhile = 16
)

// gauge decides for one site whether looking its values up pays. It judges by
// windows. While it is closed two samples are still looked up: a burst, which
// meets what is frequent, and the values of some hashes, which are met again
// however many others lie between.
type gauge struct {
	passed uint32 // values of this window
	looked uint32 // up, of these
	again  uint32 // met again, of these
	closed bool
}

// open tells whether the value of a hash is to be looked up.
func (g *gauge) open(hash uint64) bool {
	if g.passed == window {
		*g = gauge{closed: g.again < g.looked/worthwhile}
	}
	g.passed++
	if g.closed && g.passed > burst && hash>>(64-sampleBits) != 0 {
		return false
	}
	g.looked++
	return true
}
