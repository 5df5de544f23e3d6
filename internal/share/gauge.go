package share

const (
	// firstWindow is the number of values after which a gauge decides for the first
	// time. Each window is twice as long as the one before, up to lastWindow, which is
	// long enough for the owners of a cluster to come round even where the values of
	// one object fill many places of it.
	firstWindow = 1 << 12
	lastWindow  = 1 << 15
	// One value in burstPart of a window is looked up in a row whatever the gauge
	// says, and sampleBits chooses one value in 16 that always is.
	burstPart  = 16
	sampleBits = 4
	// worthwhile is the part of the look-ups that must meet a value again, and
	// hopeless the part below which the shorter windows are enough to close a gauge.
	worthwhile = 16
	hopeless   = 512
)

// gauge decides for one site whether looking its values up pays. It judges by
// windows. While it is closed two samples are still looked up: a burst, which
// meets what is frequent, and the values of some hashes, which are met again
// however many others lie between.
type gauge struct {
	passed uint32 // values of this window
	looked uint32 // up, of these
	again  uint32 // met again, of these
	window uint32 // how long it is; 0 before the first value
	closed bool
}

// open tells whether the value of a hash is to be looked up.
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
