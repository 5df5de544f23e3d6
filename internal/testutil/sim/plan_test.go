package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// operation is a kind of step.
type operation string

// The operations of the world, its users and its administrators, by their names in transcripts.
const (
	write           operation = "write"   // n changes of objects, one after another
	burst           operation = "burst"   // n changes at once
	pass            operation = "pass"    // n tenths of a second pass
	idle            operation = "idle"    // n minutes pass
	join            operation = "join"    // a handler of kind n joins
	joinInBurst     operation = "mob"     // a handler of kind n joins in the middle of a burst
	leave           operation = "leave"   // a handler leaves
	unblock         operation = "free"    // blocked handlers continue
	settle          operation = "rest"    // faults end, and everything is compared
	stop            operation = "stop"    // the informer stops, as the last step
	addIndex        operation = "index"   // another index is added
	sendBookmark    operation = "notice"  // the server sends bookmarks
	cutWatches      operation = "cut"     // open watches end
	compact         operation = "expire"  // history is compacted, and open watches end
	watchError      operation = "spit"    // the open watches send an error of kind n
	badEvent        operation = "garbage" // the open watches send an undecodable event
	failRequests    operation = "fail"    // some requests fail with an error of kind n
	hangRequest     operation = "hang"    // the next request is never answered
	delayRequests   operation = "delay"   // the next requests take n seconds
	noVersion       operation = "bare"    // the next list, stream or later page is empty and has no version
	halfOpen        operation = "half"    // open watches become half-open, and so silent
	silentWatch     operation = "mute"    // the next watches are silent from the beginning
	endWatchEarly   operation = "early"   // the next watches end after n events
	lateEvents      operation = "lag"     // events are delayed by n tenths of a second from now on
	duplicateEvents operation = "double"  // the next n events are sent twice
	loseBookmarks   operation = "lose"    // bookmarks are lost from now on
	pollStatus      operation = "look"    // the informer's status is read n times
	leaveInBurst    operation = "flee"    // a handler leaves in the middle of a burst
	trickleWrites   operation = "trickle" // n changes, milliseconds apart, with reads of the status
	awaitDelivery   operation = "await"   // WaitDelivered is called while changes go on
	writeByHand     operation = "hand"    // a user writes into the store, n times
	relistUnchanged operation = "again"   // unchanged objects are listed again
	restoreServer   operation = "restore" // the server is restored from a backup of n changes ago
)

// The operations that only transcripts have. A step has the name of an object.
const (
	put    operation = "put"    // an object is created or changed
	poison operation = "sicken" // an object is changed so that a frail transform fails on it
	remove operation = "remove" // an object is deleted
	status operation = "status" // the informer's status is traced
)

// menuItem is an operation with its largest n and its weight. The weights of a menu add up to about a
// hundred.
type menuItem struct {
	op     operation
	weight int
	maxN   int
}

// menu has the operations of ordinary worlds.
var menu = []menuItem{
	{write, 30, 6},
	{burst, 5, 60},
	{pass, 12, 50},
	{idle, 2, 12},
	{join, 8, len(kinds)},
	{joinInBurst, 2, len(kinds)},
	{leave, 3, 1},
	{unblock, 3, 1},
	{settle, 5, 1},
	{addIndex, 1, 1},
	{sendBookmark, 4, 1},
	{cutWatches, 4, 1},
	{compact, 4, 1},
	{watchError, 4, len(watchErrors)},
	{badEvent, 1, 1},
	{failRequests, 4, len(failures)},
	{hangRequest, 1, 1},
	{delayRequests, 2, 8},
	{noVersion, 2, 2},
	{halfOpen, 2, 1},
	{silentWatch, 1, 2},
	{endWatchEarly, 3, 4},
	{lateEvents, 2, 20},
	{duplicateEvents, 2, 6},
	{loseBookmarks, 1, 1},
	{pollStatus, 4, 30},
	{relistUnchanged, 1, 1},
	{writeByHand, 4, 5},
	{leaveInBurst, 2, 1},
	{trickleWrites, 5, 60},
	{awaitDelivery, 2, 1},
	{restoreServer, 1, 12},
}

// versionlessOps are the operations in worlds with meaningless versions, such as a fake clientset's.
// There, an event that a watch loses is lost forever.
var versionlessOps = map[operation]bool{
	write: true, burst: true, pass: true, join: true, joinInBurst: true, leave: true, unblock: true,
	settle: true, addIndex: true, watchError: true, pollStatus: true,
	leaveInBurst: true, trickleWrites: true,
}

// step is one step of the driver.
type step struct {
	op   operation
	n    int
	seed uint64 // for the random choices within the step

	// In transcripts: the object of put, poison and remove, or the kind of the handler that joins.
	name string
}

func (s step) String() string {
	if s.name == "" && s.n == 0 {
		return string(s.op)
	}
	if s.name != "" {
		return fmt.Sprintf("%s %s", s.op, s.name)
	}
	return fmt.Sprintf("%s %d", s.op, s.n)
}

func (s step) rand() *rand.Rand { return rand.New(rand.NewPCG(s.seed, 2)) } //nolint:gosec // a test

// setup is the part of a world that does not change.
type setup struct {
	namespaces      int // if there are two, each has its own source
	names           int // the number of object names in each namespace
	zones           int // the number of sources between which objects move; 0 for none
	streaming       reflector.Streaming
	noStream        bool
	noCache         bool
	blank           bool // all versions are the same
	versionless     bool // with blank: objects, lists and streams have no versions
	bookmarks       time.Duration
	page            int64
	transform       string // "", "frail", renames, or one of strips
	recurs          bool   // a recreated object may have an earlier UID
	frail           bool   // an index function panics on some objects
	lease           bool   // the informer belongs to a factory, and is leased
	initialFailures int    // the number of failing requests at the beginning
	tenants         bool   // leases of a factory's informers come and go
	custom          bool   // the resource comes and goes
	packed          packed
	scribbles       bool // the program writes into the objects that it gets
	chance          float64
}

func (s setup) String() string {
	var words []string
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(true, "%d namespaces of %d objects", s.namespaces, s.names)
	say(s.zones > 0, "%d zones that objects move between", s.zones)
	say(s.blank && !s.versionless, "versions that say nothing")
	say(s.versionless, "no versions")
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
	say(s.initialFailures > 0, "%d failures to begin with", s.initialFailures)
	say(s.tenants, "leases that come and go")
	say(s.custom, "a resource that comes and goes")
	say(s.packed != decoded, "%v", s.packed)
	say(s.scribbles, "a program that writes into what it gets")
	return strings.Join(words, ", ")
}

// plan is a world that has not been played yet.
type plan struct {
	seed  uint64
	setup setup
	steps []step
}

// newPlan draws an ordinary world.
func newPlan(seed uint64) plan { return drawPlan(seed, menu, func(*setup, *rand.Rand) {}) }

// drawPlan draws a world with an adjusted setup and the operations of a menu.
func drawPlan(seed uint64, menu []menuItem, adjust func(*setup, *rand.Rand)) plan {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	p := plan{seed: seed, setup: newSetup(r)}
	adjust(&p.setup, r)
	p.setup.packed, p.setup.scribbles = drawPacked(seed)
	total := 0
	for _, m := range menu {
		total += m.weight
	}
	for n := 25 + r.IntN(25); len(p.steps) < n; {
		k := r.IntN(total)
		for _, m := range menu {
			if k -= m.weight; k < 0 {
				s := step{op: m.op, n: 1 + r.IntN(m.maxN), seed: r.Uint64()}
				if !p.setup.blank || versionlessOps[s.op] {
					p.steps = append(p.steps, s)
				}
				break
			}
		}
	}
	p.drawStop()
	return p
}

// drawStop makes some worlds end with a stop of the informer in any state.
func (p *plan) drawStop() {
	if r := rand.New(rand.NewPCG(p.seed, 3)); r.IntN(3) == 0 && !p.setup.tenants { //nolint:gosec // a test
		p.steps = append(p.steps, step{op: stop, seed: r.Uint64()})
	}
}

func newSetup(r *rand.Rand) setup {
	one := func(of int) bool { return r.IntN(of) == 0 }
	s := setup{
		namespaces: 1 + r.IntN(2),
		names:      3 + r.IntN(8),
		streaming:  reflector.Streaming(r.IntN(3)), //nolint:gosec // 0 to 2
		noStream:   one(4),
		noCache:    one(3),
		blank:      one(12),
		transform:  []string{"", "", "", "frail", "frail", "strip", "strip UIDs", "strip versions", "strip some", renames, renames}[r.IntN(11)],
		frail:      one(4),
		recurs:     one(4),
		lease:      one(5),
		chance:     r.Float64(),
	}
	if one(2) {
		s.bookmarks = time.Minute
	}
	if one(3) {
		s.page = int64(1 + r.IntN(5))
	}
	if one(4) {
		s.initialFailures = 1 + r.IntN(5)
	}
	if s.blank {
		s.streaming, s.bookmarks = reflector.StreamingUnsupported, 0
		if s.versionless = one(2); s.versionless {
			s.streaming = reflector.Streaming(r.IntN(3)) //nolint:gosec // 0 to 2
		}
	}
	if one(4) && !s.blank && !s.lease {
		s.namespaces, s.zones = 1, 2+r.IntN(2)
	}
	if s.recurs {
		s.names = min(s.names, 4) // makes each object change more often
	}
	if s.lease {
		s.namespaces, s.frail, s.page = 1, false, 0 // the factory sets the options
	}
	return s
}
