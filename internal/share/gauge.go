package share

const (
	// A gauge first decides after firstWindow values. Each window is twice as long as the last one, up to
	// lastWindow. That is long enough for all workloads of a cluster to recur, even with many values per
	// object.
	firstWindow = 1 << 12
	lastWindow  = 1 << 15
	// A closed gauge still looks up samples: the first of the burstPart parts of each window, and one
	// value in 16, chosen by hash (sampleBits).
	burstPart  = 16
	sampleBits = 4
	// A gauge stays open if one of worthwhile look-ups finds a value. If fewer than one of hopeless does,
	// a short window is enough to close the gauge.
	worthwhile = 16
	hopeless   = 512
)

// gauge decides for one site whether look-ups pay off, window by window. A closed gauge still looks up
// two samples: a burst of successive values, to detect frequent values, and all values with certain
// hashes, to detect rare ones regardless of how many other values come between.
type gauge struct {
	passed uint32 // values in this window
	looked uint32 // looked-up values in this window
	again  uint32 // found values in this window
	window uint32 // the length of the window; 0 before the first value
	closed bool
}

// open reports whether to look up the value with a hash.
func (g *gauge) open(hash uint64) bool {
	if g.passed == g.window {
		g.judge()
	}
	g.passed++
	if g.closed && g.passed > g.window/burstPart && hash>>(64-sampleBits) != 0 {
		return false
	}
	g.looked++
	return true
}

// judge opens or closes the gauge and begins the next window.
func (g *gauge) judge() {
	if g.window == 0 {
		g.window = firstWindow
		return
	}
	least := g.looked / worthwhile
	if !g.closed && g.window < lastWindow {
		least = g.looked / hopeless
	}
	*g = gauge{closed: g.again < least, window: min(2*g.window, lastWindow)}
}
