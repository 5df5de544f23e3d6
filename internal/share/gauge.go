package share

const (
	// window is the number of look-ups after which a gauge decides.
	window = 1024
	// worthwhile is how many of a window must be found for sharing to pay.
	worthwhile = window / 16
	// longestPause bounds the windows that a field sits out in a row.
	longestPause = 64
)

// gauge decides for one field whether looking its values up pays. It measures
// one window of look-ups; where too few are found the field sits out some
// windows, twice as many each time, and is then measured again.
type gauge struct {
	tries, found uint32
	skip         uint32 // look-ups still to be sat out
	pause        uint32 // windows sat out the last time
}

// open tells whether the next value is to be looked up.
func (g *gauge) open() bool {
	if g.skip > 0 {
		g.skip--
		return false
	}
	g.tries++
	if g.tries > window {
		g.judge()
		return g.skip == 0
	}
	return true
}

func (g *gauge) judge() {
	if g.found >= worthwhile {
		g.pause = 0
	} else {
		g.pause = min(max(2*g.pause, 1), longestPause)
	}
	g.tries, g.found, g.skip = 1, 0, g.pause*window
}
