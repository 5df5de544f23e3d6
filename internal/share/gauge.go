package share

const (
	// A gauge first decides after firstWindow values. Each window is twice as long as the one
	// before, up to lastWindow. That is long enough for all workloads of a cluster to recur, even
	// with many values an object.
	firstWindow = 1 << 12
	lastWindow  = 1 << 15
	// A closed gauge still looks up the first values of a window, one in burstPart of it, and by
	// sampleBits one value in 16.
	burstPart  = 16
	sampleBits = 4
	// A gauge stays open if one look-up in worthwhile finds a value. With fewer than one in
	// hopeless, a short window is enough to close it.
	worthwhile = 16
	hopeless   = 512
)

// gauge decides for one site whether look-ups pay, window by window. A closed gauge still looks
// up two samples: a burst, which finds frequent values, and the values of some hashes, which are
// found again however many other values lie between.
type gauge struct {
	passed uint32 // values of this window
	looked uint32 // up, of these
	again  uint32 // met again, of these
	window uint32 // how long it is; 0 before the first value
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
