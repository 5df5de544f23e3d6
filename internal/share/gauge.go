package share

const (
	// A gauge first decides after firstWindow values. Each window is twice as long as the one
	// before, up to lastWindow. That is long enough for all workloads of a cluster to recur, even
	// with many values an object.
	firstWindow = 1 << 12
	lastWindow  = 1 << 15
	// A closed gauge still looks up samples: the first of the burstPart parts of a window, and by
	// their hashes one value in 16 (sampleBits).
	burstPart  = 16
	sampleBits = 4
	// A gauge stays open if one look-up in worthwhile finds a value. With fewer than one in
	// hopeless, a short window is enough to close it.
	worthwhile = 16
	hopeless   = 512
)

// gauge decides for one site whether look-ups pay, window by window. A closed gauge still looks
// up two samples: a burst of successive values, to find frequent ones; and all values with certain
// hashes, to find rare ones, however many other values lie between.
type gauge struct {
	passed uint32 // number of values in this window
	looked uint32 // number of these that were looked up
	again  uint32 // number of these that were found
	window uint32 // the length of the window; 0 before the first value
	closed bool
}

// open reports whether to look up the value of a hash.
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

// judge begins the next window.
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
