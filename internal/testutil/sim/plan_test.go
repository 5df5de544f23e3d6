package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// deed is a kind of step.
type deed string

// The deeds of the world, of its users, and of those who operate it.
const (
	write   deed = "write"   // n changes of objects, one after the other
	burst   deed = "burst"   // n changes at once
	pass    deed = "pass"    // n tenths of a second
	idle    deed = "idle"    // n minutes
	join    deed = "join"    // a handler of kind n
	mob     deed = "mob"     // a handler of kind n joins in the middle of a burst
	leave   deed = "leave"   // a handler
	free    deed = "free"    // stuck handlers go on
	rest    deed = "rest"    // faults end, and everything is compared
	stop    deed = "stop"    // the informer stops
	start   deed = "start"   // the informer runs again
	addix   deed = "index"   // another index is added
	notice  deed = "notice"  // a bookmark for everybody
	cut     deed = "cut"     // open watches end
	expire  deed = "expire"  // history is compacted, and open watches end
	spit    deed = "spit"    // an error of kind n comes in the open watches
	garbage deed = "garbage" // an event that cannot be read comes in them
	fail    deed = "fail"    // some requests fail with an error of kind n
	hang    deed = "hang"    // the next request is never answered
	delay   deed = "delay"   // the next requests take n seconds
	bare    deed = "bare"    // the next list, or the next page of one, says nothing, not even a version
	half    deed = "half"    // open watches fall silent, half-open
	mute    deed = "mute"    // the next watches are silent from the beginning
	early   deed = "early"   // the next watches end after n events
	lag     deed = "lag"     // events come n tenths of a second late from now on
	double  deed = "double"  // the next n events come twice
	lose    deed = "lose"    // bookmarks are lost from now on
	look    deed = "look"    // somebody asks n times how the informer is doing
	flee    deed = "flee"    // a handler leaves in the middle of a burst
	between deed = "between" // the informer stops, a handler of kind n joins, and it runs again
	trickle deed = "trickle" // n changes, milliseconds apart, with somebody who asks how the informer is doing
	await   deed = "await"   // somebody waits until all was delivered, and more keeps coming
	hand    deed = "hand"    // a user writes into the store, n times
	again   deed = "again"   // everything is listed again, and is as it was
	restore deed = "restore" // the server is restored from a backup of n changes ago
)

// The deeds of transcripts, which name what they are about.
const (
	put    deed = "put"    // an object is created or changed
	sicken deed = "sicken" // it is changed so that a frail transform fails on it
	remove deed = "remove" // it is deleted
	status deed = "status" // what the informer says of itself is traced
)

// deedFrequency says how often a deed is done, of a hundred or so, and its largest n.
type deedFrequency struct {
	deed   deed
	weight int
	most   int
}

// deeds are the deeds of ordinary worlds.
var deeds = []deedFrequency{
	{write, 30, 6},
	{burst, 5, 60},
	{pass, 12, 50},
	{idle, 2, 12},
	{join, 8, len(kinds)},
	{mob, 2, len(kinds)},
	{leave, 3, 1},
	{free, 3, 1},
	{rest, 5, 1},
	{stop, 2, 1},
	{start, 4, 1},
	{addix, 1, 1},
	{notice, 4, 1},
	{cut, 4, 1},
	{expire, 4, 1},
	{spit, 4, len(spits)},
	{garbage, 1, 1},
	{fail, 4, len(failures)},
	{hang, 1, 1},
	{delay, 2, 8},
	{bare, 2, 2},
	{half, 2, 1},
	{mute, 1, 2},
	{early, 3, 4},
	{lag, 2, 20},
	{double, 2, 6},
	{lose, 1, 1},
	{look, 4, 30},
	{again, 1, 1},
	{hand, 4, 5},
	{flee, 2, 1},
	{between, 1, len(kinds)},
	{trickle, 5, 60},
	{await, 2, 1},
	{restore, 1, 12},
}

// calm are the deeds of a world whose versions say nothing, such as a fake
// clientset's: what its watches lose nobody can find again.
var calm = map[deed]bool{
	write: true, burst: true, pass: true, join: true, mob: true, leave: true, free: true,
	rest: true, stop: true, start: true, addix: true, spit: true, look: true,
	flee: true, between: true, trickle: true,
}

// step is one thing that the driver does.
type step struct {
	deed deed
	n    int
	seed uint64 // of the choices within the step

	// In transcripts: the object of put, sicken and remove, and the kind of
	// handler that joins.
	name string
}

func (s step) String() string {
	if s.name == "" && s.n == 0 {
		return string(s.deed)
	}
	if s.name != "" {
		return fmt.Sprintf("%s %s", s.deed, s.name)
	}
	return fmt.Sprintf("%s %d", s.deed, s.n)
}

func (s step) rand() *rand.Rand { return rand.New(rand.NewPCG(s.seed, 2)) } //nolint:gosec // a test

// setup is what of a world does not change.
type setup struct {
	parts     int // namespaces, each with a source of its own if there are two
	names     int // objects in each
	zones     int // sources that objects move between, if there are any
	streaming reflector.Streaming
	noStream  bool
	noCache   bool
	blank     bool // versions say nothing
	bookmarks time.Duration
	page      int64
	transform string // "", "frail", or one of strips
	recurs    bool   // an object that is created again may have a UID of before
	frail     bool   // an index function panics on some objects
	lease     bool   // the informer is a factory's, acquired and released
	rough     int    // so many requests fail in the beginning
	tenants   bool   // the informers of a factory have leases that come and go
	custom    bool   // the resource comes and goes
	undefined bool   // its definition may not be read
	chance    float64
}

func (s setup) String() string {
	var words []string
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(true, "%d namespaces of %d objects", s.parts, s.names)
	say(s.zones > 0, "%d zones that objects move between", s.zones)
	say(s.blank, "versions that say nothing")
	say(!s.blank && s.streaming == reflector.StreamingUnsupported, "a source that does not stream")
	say(s.streaming == reflector.StreamingUnknown, "a source that may stream")
	say(s.noStream, "a server that does not stream")
	say(s.noCache, "a server without a watch cache")
	say(s.bookmarks > 0, "a bookmark every %v", s.bookmarks)
	say(s.page > 0, "pages of %d", s.page)
	say(s.transform != "", "the transform: %s", s.transform)
	say(s.recurs, "UIDs that recur")
	say(s.frail, "a frail index function")
	say(s.lease, "an informer on lease")
	say(s.rough > 0, "%d failures to begin with", s.rough)
	say(s.tenants, "leases that come and go")
	say(s.custom, "a resource that comes and goes")
	say(s.undefined, "a definition that may not be read")
	return strings.Join(words, ", ")
}

// plan is a world before it is played.
type plan struct {
	seed  uint64
	setup setup
	steps []step
}

// newPlan draws an ordinary world.
func newPlan(seed uint64) plan { return drawPlan(seed, deeds, func(*setup, *rand.Rand) {}) }

// drawPlan draws a world of a setup, adjusted, and of the deeds of a deeds.
func drawPlan(seed uint64, deeds []deedFrequency, adjust func(*setup, *rand.Rand)) plan {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	p := plan{seed: seed, setup: newSetup(r)}
	adjust(&p.setup, r)
	total := 0
	for _, m := range deeds {
		total += m.weight
	}
	for n := 25 + r.IntN(25); len(p.steps) < n; {
		k := r.IntN(total)
		for _, m := range deeds {
			if k -= m.weight; k < 0 {
				s := step{deed: m.deed, n: 1 + r.IntN(m.most), seed: r.Uint64()}
				if !p.setup.blank || calm[s.deed] {
					p.steps = append(p.steps, s)
				}
				break
			}
		}
	}
	return p
}

func newSetup(r *rand.Rand) setup {
	one := func(of int) bool { return r.IntN(of) == 0 }
	s := setup{
		parts:     1 + r.IntN(2),
		names:     3 + r.IntN(8),
		streaming: reflector.Streaming(r.IntN(3)), //nolint:gosec // 0 to 2
		noStream:  one(4),
		noCache:   one(3),
		blank:     one(12),
		transform: []string{"", "", "", "frail", "frail", "strip", "strip UIDs", "strip versions", "strip some"}[r.IntN(9)],
		frail:     one(4),
		recurs:    one(4),
		lease:     one(5),
		chance:    r.Float64(),
	}
	if one(2) {
		s.bookmarks = time.Minute
	}
	if one(3) {
		s.page = int64(1 + r.IntN(5))
	}
	if one(4) {
		s.rough = 1 + r.IntN(5)
	}
	if s.blank {
		s.streaming, s.bookmarks = reflector.StreamingUnsupported, 0
	}
	if one(4) && !s.blank && !s.lease {
		s.parts, s.zones = 1, 2+r.IntN(2)
	}
	if s.recurs {
		s.names = min(s.names, 4) // so that more becomes of each
	}
	if s.lease {
		s.parts, s.frail, s.page = 1, false, 0 // the factory makes the options
	}
	return s
}
