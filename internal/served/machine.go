package served

import (
	"slices"

	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// phase is what the machine waits for.
//
//	phase        waits for                              watch of the definition
//	idle         a 404                                  no
//	defining     the list of the definition             no
//	resuming     a pause, to list the definition again  no
//	discovering  an answer of discovery                 where it is watched
//	pausing      a pause, to ask discovery again        where it is watched
//	retrying     a pause, to try the resource again     where it is watched
//	pending      the definition, and nothing else       yes
type phase uint8

const (
	idle phase = iota
	defining
	resuming
	discovering
	pausing
	retrying
	pending
)

// witness says what can be learned from the definition during one absence.
type witness uint8

const (
	unheard witness = iota // it is to be listed
	watched                // it was listed, and is watched
	refused                // the server does not let us
)

// definition is what is known of the definition, from one absence to the next.
type definition uint8

const (
	unseen definition = iota // there may never have been one
	there                    // it was seen, with its versions
	opaque                   // it was seen, but not its versions
	gone                     // it was seen, and has been deleted
)

// inputKind names what happened.
type inputKind uint8

const (
	inMissed       inputKind = iota + 1 // the resource was answered with 404
	inFound                             // the resource is listed, and its watch is no short one
	inDefined                           // the definition is there, and serves versions
	inOpaque                            // the definition is there, its versions cannot be read
	inUndefined                         // a list succeeded, and lacks the definition
	inDropped                           // the definition was deleted
	inRefused                           // definitions may not be read, or there are none on this server
	inBroken                            // the list or the watch of the definition failed or ended
	inDiscovered                        // discovery succeeded: versions have the resource
	inUndiscovered                      // discovery failed, or may not be asked
	inDue                               // the pause is over
)

// input is one thing that happened.
type input struct {
	kind     inputKind
	known    bool     // inMissed: there are objects that were not told as deleted
	versions []string // inDefined, inDiscovered: those that are served now
	lasted   bool     // inBroken: the watch was open for long
}

// op is what to do next. All but doStay end what was begun before, other than
// the watch of the definition.
type op uint8

const (
	doStay     op = iota // go on waiting
	doDefine             // list the definition, then watch it: inDefined, inOpaque, inUndefined, inDropped, inRefused, inBroken
	doDiscover           // ask discovery: inDiscovered, inUndiscovered
	doPause              // wait before the next request: inDue
	doRetry              // wait before the resource is tried again: inDue
	doListen             // wait for the definition
	doAnswer             // end the absence
)

// action is what to do next.
type action struct {
	op      op
	attempt int    // doPause, doRetry: the step of the back-off, from 1
	alone   bool   // doPause: nothing but discovery tells of the resource
	answer  Answer // doAnswer
	version string // doAnswer with Served
}

// Answer says how an absence ended.
type Answer uint8

const (
	// Served says that the server has the resource, in a version that can be used.
	Served Answer = iota + 1
	// Deleted says that the resource was taken away, and its objects with it.
	Deleted
	// Unknowable says that nobody can be asked now: the resource itself is to be asked for again.
	Unknowable
)

const (
	// proof is how many discoveries in a row must lack a resource that was taken away.
	proof = 2
	// blindly is how many steps of the back-off are left out where nothing says that the
	// resource is served.
	blindly = 4
)

// machine decides what to ask during an absence, and what follows from the answers. It is a
// value without clocks, locks or I/O.
type machine struct {
	// wanted is the version that was asked for, and follows says whether another one will do.
	// Neither changes.
	wanted  string
	follows bool

	// These belong to one absence.
	phase   phase
	witness witness
	known   bool   // there are objects that were not told as deleted
	version string // retrying: the version to try
	lacking int    // the discoveries in a row that lack the resource
	asked   int    // the pauses between discoveries
	breaks  int    // the pauses between lists of the definition

	// These outlive it.
	definition definition
	misses     int // how often the resource was said to be served since it was found last
}

// step takes what happened and returns what to do.
func (m *machine) step(in input) action {
	switch in.kind {
	case inMissed:
		m.known, m.lacking, m.asked, m.breaks = in.known, 0, 0, 0
		return m.define()
	case inFound:
		m.misses = 0
		return action{}
	case inDefined:
		return m.defined(in.versions)
	case inOpaque:
		return m.seenOnly()
	case inUndefined:
		return m.undefined()
	case inDropped:
		m.definition = gone
		return m.deleted()
	case inRefused:
		return m.refuse()
	case inBroken:
		return m.broken(in.lasted)
	case inDiscovered:
		return m.discovered(in.versions)
	case inUndiscovered:
		return m.undiscovered()
	default: // inDue
		return m.due()
	}
}

func (m *machine) define() action {
	m.witness = unheard
	m.enter(defining)
	return action{op: doDefine}
}

// defined takes note of the definition. The resource is tried at once where that is news. But what a list
// tells may have been known at the last try, and so may an event that comes before the next one.
func (m *machine) defined(versions []string) action {
	first, again := m.phase == defining, m.phase == retrying && m.definition == there
	m.see(there)
	version, ok := choose(m.wanted, m.follows, versions)
	switch {
	case !ok:
		return m.listen()
	case first:
		return m.try(version)
	case again:
		m.version = version
		return action{}
	default:
		return m.served(version)
	}
}

// seenOnly takes note of a definition whose versions are left to discovery.
func (m *machine) seenOnly() action {
	m.see(opaque)
	return m.discover()
}

// see notes that the definition is there. Where that is new, no try has proved anything.
func (m *machine) see(d definition) {
	if m.definition == unseen || m.definition == gone {
		m.misses = 0
	}
	m.definition, m.witness = d, watched
}

// undefined follows a list without the definition. Where one was seen before, it was deleted.
// Where none was ever seen the resource may be one that has no definition.
func (m *machine) undefined() action {
	m.witness = watched
	switch {
	case m.definition == there, m.definition == opaque:
		m.definition = gone
		return m.deleted()
	case m.definition == gone && !m.known:
		return m.listen()
	default:
		return m.discover()
	}
}

// deleted tells that the resource was taken away, unless that makes no difference.
func (m *machine) deleted() action {
	if !m.known {
		return m.listen()
	}
	return m.end(action{answer: Deleted})
}

// refuse goes on with discovery alone.
func (m *machine) refuse() action {
	m.witness = refused
	if m.phase == pausing {
		return action{} // it was asked a moment ago
	}
	return m.discover()
}

// broken lists the definition again after a pause, since a watch is resumed by a list here: one
// object costs little, and a list shows what was missed. Where even the list failed, the server may be
// in trouble, or never answer.
func (m *machine) broken(lasted bool) action {
	if m.phase == defining {
		return m.end(action{answer: Unknowable})
	}
	if lasted {
		m.breaks = 0
	}
	m.breaks++
	m.witness = unheard
	m.enter(resuming)
	return action{op: doPause, attempt: m.breaks}
}

func (m *machine) discover() action {
	if m.phase == discovering {
		return action{} // it is under way
	}
	m.enter(discovering)
	return action{op: doDiscover}
}

// discovered takes note of a discovery that succeeded. It proves no deletion while the
// definition is there.
func (m *machine) discovered(versions []string) action {
	if len(versions) > 0 {
		m.lacking = 0
		if version, ok := choose(m.wanted, m.follows, versions); ok {
			return m.try(version)
		}
		return m.pause()
	}
	if m.witness == watched && m.definition == opaque {
		return m.pause()
	}
	m.lacking = min(m.lacking+1, proof)
	if m.known && m.lacking == proof {
		return m.end(action{answer: Deleted})
	}
	return m.pause()
}

// undiscovered goes on without discovery. Where there was never a definition the resource may be
// one that has none, so it is tried once in a while.
func (m *machine) undiscovered() action {
	m.lacking = 0
	switch {
	case m.witness == refused:
		return m.end(action{answer: Unknowable})
	case m.definition == opaque:
		return m.try(m.wanted)
	default:
		return m.retry(m.wanted, m.misses+blindly)
	}
}

// pause waits before discovery is asked again.
func (m *machine) pause() action {
	m.asked++
	m.enter(pausing)
	return action{op: doPause, attempt: m.asked, alone: m.witness == refused}
}

// listen waits for the definition alone.
func (m *machine) listen() action {
	m.enter(pending)
	return action{op: doListen}
}

// try has the resource tried: at once where that was not done since it was found last.
func (m *machine) try(version string) action {
	if m.misses == 0 {
		return m.served(version)
	}
	return m.retry(version, m.misses)
}

func (m *machine) retry(version string, attempt int) action {
	m.enter(retrying)
	m.version = version
	return action{op: doRetry, attempt: attempt}
}

func (m *machine) due() action {
	switch m.phase {
	case resuming:
		return m.define()
	case retrying:
		return m.served(m.version)
	default: // pausing
		return m.discover()
	}
}

// served says that the resource is there.
func (m *machine) served(version string) action {
	m.misses++
	return m.end(action{answer: Served, version: version})
}

func (m *machine) end(a action) action {
	m.witness = unheard
	m.enter(idle)
	a.op = doAnswer
	return a
}

func (m *machine) enter(p phase) { m.phase, m.version = p, "" }

// check panics where an invariant does not hold.
func (m *machine) check() {
	listed := m.phase == discovering || m.phase == pausing || m.phase == retrying || m.phase == pending
	verify.That(listed == (m.witness != unheard), "the definition is %d in phase %d", m.witness, m.phase)
	verify.That(m.phase != pending || m.witness == watched, "waiting for a definition that is not watched")
	verify.That((m.phase == retrying) == (m.version != ""), "version %q in phase %d", m.version, m.phase)
}

// choose returns the version to ask for: the wanted one, or else the one that discovery
// prefers.
func choose(wanted string, follows bool, versions []string) (version string, ok bool) {
	switch {
	case slices.Contains(versions, wanted):
		return wanted, true
	case !follows || len(versions) == 0:
		return "", false
	default:
		return slices.MaxFunc(versions, apiversion.CompareKubeAwareVersionStrings), true
	}
}
