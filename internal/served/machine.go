package served

import (
	"slices"

	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// phase is a state of the machine, named by the event that the machine waits for.
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

// witness tracks access to the definition during one absence.
type witness uint8

const (
	unheard witness = iota // not listed yet
	watched                // listed and watched
	refused                // access is denied
)

// definition tracks the definition from one absence to the next.
type definition uint8

const (
	unseen definition = iota // there may never have been a definition
	there                    // it was seen, with its versions
	opaque                   // it was seen, but not its versions
	gone                     // it was seen, and has been deleted
)

// inputKind is the kind of an input.
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

// input is something that happened.
type input struct {
	kind     inputKind
	known    bool     // inMissed: the store has objects whose deletion was not reported
	versions []string // inDefined, inDiscovered: the served versions
	lasted   bool     // inBroken: the watch was open for long
}

// op is an operation. All operations except doStay end the previous one, except the watch of the
// definition.
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

// action is the next operation, with its parameters.
type action struct {
	op      op
	attempt int    // doPause, doRetry: the step of the back-off, from 1
	alone   bool   // doPause: discovery is the only source of news
	answer  Answer // doAnswer
	version string // doAnswer with Served
}

// Answer is the result of an absence.
type Answer uint8

const (
	// Served means that the server has the resource, in a usable version.
	Served Answer = iota + 1
	// Deleted means that the resource was removed with all its objects.
	Deleted
	// Unknowable means that neither the definition nor discovery can be read now; the reflector
	// should request the resource itself.
	Unknowable
)

const (
	// proof is the number of discoveries in a row that must lack a removed resource.
	proof = 2
	// blindly is the number of back-off steps to skip if nothing says that the resource is served.
	blindly = 4
)

// machine decides which requests to send during an absence, and what follows from the answers. It is
// a value without clocks, locks or I/O.
type machine struct {
	// wanted is the wanted version; with follows, another version will do. Neither changes.
	wanted  string
	follows bool

	// These belong to one absence.
	phase   phase
	witness witness
	known   bool   // the store has objects whose deletion was not reported
	version string // retrying: the version to try
	lacking int    // the discoveries in a row that lack the resource
	asked   int    // the pauses between discoveries
	breaks  int    // the pauses between lists of the definition

	// These outlive it.
	definition definition
	misses     int // how often the resource was said to be served since it was found last
}

// step takes an input and returns an action.
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

// defined handles a definition with served versions. If it is news, the resource is tried at once. A
// listed definition, or an event before the next try, may be older than the last try.
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

// seenOnly handles a definition without readable versions: discovery has to find them. After news of
// the definition the pauses begin anew, since discovery mostly shows the change a moment later.
func (m *machine) seenOnly() action {
	if m.phase != defining || m.definition != opaque {
		m.asked = 0
	}
	m.see(opaque)
	return m.discover()
}

// see records the existence of the definition. If it is new, earlier tries prove nothing.
func (m *machine) see(d definition) {
	if m.definition == unseen || m.definition == gone {
		m.misses = 0
	}
	m.definition, m.witness = d, watched
}

// undefined handles a list without the definition. A definition seen before was deleted. Otherwise
// the resource may have no definition.
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

// deleted ends the absence if there are objects to delete.
func (m *machine) deleted() action {
	if !m.known {
		return m.listen()
	}
	return m.end(action{answer: Deleted})
}

// refuse continues with discovery alone.
func (m *machine) refuse() action {
	m.witness = refused
	if m.phase == pausing {
		return action{} // it was asked a moment ago
	}
	return m.discover()
}

// broken lists the definition again after a pause. A list of one object costs little, and shows
// missed changes. If even the list failed, the server may be in trouble, or never answer.
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

// discovered handles a successful discovery. It proves no deletion while the definition exists.
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

// undiscovered continues without discovery. If there never was a definition, the resource may have
// none, so it is tried from time to time.
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

// pause waits until the next discovery.
func (m *machine) pause() action {
	m.asked++
	m.enter(pausing)
	return action{op: doPause, attempt: m.asked, alone: m.witness == refused}
}

// listen waits for news of the definition alone.
func (m *machine) listen() action {
	m.enter(pending)
	return action{op: doListen}
}

// try lets the reflector try the resource: at once the first time since it was last found.
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

// served ends the absence with the resource.
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

// check panics if an invariant is violated.
func (m *machine) check() {
	listed := m.phase == discovering || m.phase == pausing || m.phase == retrying || m.phase == pending
	verify.That(listed == (m.witness != unheard), "the definition is %d in phase %d", m.witness, m.phase)
	verify.That(m.phase != pending || m.witness == watched, "waiting for a definition that is not watched")
	verify.That((m.phase == retrying) == (m.version != ""), "version %q in phase %d", m.version, m.phase)
}

// choose returns the version to request: the wanted one, or else the one preferred by discovery.
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
