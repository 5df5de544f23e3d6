package reflector

import (
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// history tracks the server's history. It lasts as long as the reflector.
type history struct {
	state    historyState
	versions versioning
}

// versioning tracks whether full states have versions.
type versioning uint8

const (
	versionsUnseen versioning = iota // no full state committed yet
	versionsAbsent                   // no committed full state had a version, which was reported
	versionsKnown                    // a full state had a version; a later list without a version is an error (D26)
)

// historyState determines how full states are requested. The commit of a full state makes the
// history known.
type historyState uint8

const (
	known      historyState = iota // not older than the known version
	atLatest                       // at "": the server does not serve the known version, or nothing has confirmed it
	rolledBack                     // at "", by a list: the history went back, and a new one begins
)

// server tracks what the answers have shown about the server. pagesAt0 and bookmarks are never reset.
type server struct {
	// pagesAt0 is true if even lists at "0" arrive in pages. A limit then cannot bypass the watch
	// cache, because there is none (B46).
	pagesAt0 bool
	// bookmarks is true once a bookmark has arrived.
	bookmarks bool
	// streamsDisabled is true for ten minutes after a stream that did not work, or until a 404 of a
	// list or watch: the stream may have failed because the resource was missing.
	streamsDisabled bool
	// missing is true from a 404 of a list or watch until a list is committed. Meanwhile, only lists
	// are requested.
	missing bool
}

// failures tracks failures. A healthy period resets count, waits, missing and freeRelistUsed.
type failures struct {
	// count is the number of failures, for reports. waits is the number of back-offs, which
	// determines the next delay. They differ because some failures are retried at once, and some
	// back-offs follow no failure.
	count, waits int
	// missing is the number of 404s. Their back-offs have separate steps, because a resource may be
	// missing for days on a healthy server.
	missing int
	// freeRelistUsed is true after the only relist without a wait.
	freeRelistUsed bool
	// lastWatchShort is true if the last watch sent something but ended within a second. A healthy
	// period does not reset it. Otherwise short watches could follow each other without a pause.
	lastWatchShort bool
	// pageRepeats is how often the current page was requested again. Invariant: at most
	// maxPageRepeats, and 0 in all phases except paging and waitingToPage.
	pageRepeats int
	// listBroke is true if a list broke off within its items. Lists then use pages until a full
	// state is committed.
	listBroke bool
}

// watchFacts has facts about the open or requested stream or watch. Each request starts with new
// facts, but inherits the proof.
type watchFacts struct {
	active bool // it sent something
	proof  proof
	// reopened is true if the server closed the previous watch. If the watch also opened slowly,
	// there was an outage: a client may retry by itself until the server is back, and the reflector
	// sees no failure.
	reopened bool
}

// proof tracks whether the server has confirmed the version of a watch.
type proof uint8

const (
	confirmed proof = iota
	// unconfirmed means that no event or bookmark has arrived since an outage, or since a watch
	// fell silent. The server may have been restored meanwhile: it then accepts a version from the
	// future and falls silent (D23).
	unconfirmed
)

// machine decides what a reflector does next. It is a value without clocks, locks or I/O. Its
// method step takes an input and returns an action.
type machine struct {
	// These do not change: [Options].PageSize, and whether streams may be requested.
	pageSize      int64
	streamSupport Streaming

	phase   phase
	request request // the last request
	// origin is the requested version of a list's first page, and listed the version of the
	// answer, or of the last stream.
	origin, listed string
	// version is the newest version up to which the sink has all changes. Invariant: it goes back
	// only with the commit of a new history.
	version string

	history  history
	server   server
	failures failures
	watch    watchFacts
}

// cell handles an input in a phase.
type cell func(*machine, input) action

// table is the machine after its start. It has a cell for each phase and input. An input without a
// cell cannot happen. The machine handles inSinkFailed and inStop in the same way in all phases.
//
// In the cells, "fail" means: count and report the failure. "relist" means: openingStream if the
// source streams, streams are enabled, the resource is not missing and the history did not go back,
// else listing. "older" means: older than the known version, in a history that did not go back.
// "missing" also enables streams.
//
//	phase            input       where                               then                                next
//	listing          items                                           begin, write                        paging
//	listing, paging  page        no version, but one is due          fail                                waitingToList
//	                 page        the first, and older                report; rolledBack                  listing
//	                 page        more, last                          begin if listing, write             paging, committingList
//	listing          failed      expired, too large: asked for one   fail; atLatest                     listing
//	                 failed      invalid: asked for the server's     fail; atLatest                     listing
//	                 failed      missing                             fail; missing, atLatest             waitingToList
//	                 failed      else                                fail                                waitingToList
//	paging           items                                           write                               paging
//	                 failed      expired, with a limit               fail                                listing, without a limit
//	                 failed      busy, unavailable: up to ten times  fail                                waitingToPage
//	                 failed      missing                             fail; missing, atLatest             waitingToList
//	                 failed      else                                fail                                waitingToList
//	                 broken                                          fail; listBroke                     waitingToList
//	openingStream    opened                                          begin                               streaming
//	openingStream,   failed      expired, too large: asked for one   fail; atLatest                     openingStream
//	 streaming       failed      busy                                fail                                waitingToList
//	openingStream,   failed      else                                report; streamsDisabled             listing
//	 streaming       silent      unconfirmed                         confirmed; atLatest                relist
//	                 silent      nothing came, and it may not stream report; streamsDisabled             listing
//	                 silent      else                                fail; streamsDisabled               listing
//	streaming        events      ; bookmark, not the last            active, confirmed                   streaming
//	                 bookmark    the last: no version, but one is due report; streamsDisabled            listing
//	                 bookmark    the last, and older                 report; rolledBack                  listing
//	                 bookmark    the last                            active, confirmed                   committingStream
//	                 closed                                          report; streamsDisabled             listing
//	committingList   committed                                       version; known, confirmed, not missing openingWatch; report no version, once
//	committingStream committed                                       version; known, confirmed           watching
//	openingWatch     opened      confirmed                           unconfirmed if reopened and slow    watching
//	                 opened      else                                                                    watching
//	watching         events                                          active; confirmed if unconfirmed; version  watching
//	                 bookmark    older                               report; rolledBack                  relist; waitingToList if freeRelistUsed
//	                 bookmark    else                                active, confirmed; version          watching
//	                 asked       brief, or maybe a fake's                                                watching
//	                 asked       else                                                                    openingWatch, a brief one
//	                 closed      short, and brought nothing          fail                                waitingToList
//	                 closed      short, and so was the last one                                          waitingToWatch, for one step
//	                 closed      else                                reopened                            openingWatch
//	openingWatch,    silent      unconfirmed                         confirmed; atLatest                relist
//	 watching        silent      else                                fail; unconfirmed, unless a fake's  openingWatch
//	                 failed      busy                                fail                                waitingToWatch
//	                 failed      expired                             fail                                relist; waitingToList if freeRelistUsed, atLatest if nothing came
//	                 failed      missing                             fail; missing, atLatest             waitingToList
//	                 failed      else                                fail                                waitingToList
//	waitingToList    waited                                                                              relist
//	waitingToPage    waited                                                                              paging
//	waitingToWatch   waited                                          unconfirmed                         openingWatch
//	all              sinkFailed                                      fail                                waitingToList
//	all              stop                                                                                stopped
var table = [phases][inputs]cell{
	listing:          {inItems: (*machine).items, inPage: (*machine).page, inFailed: (*machine).listFailed},
	paging:           {inItems: (*machine).items, inPage: (*machine).page, inFailed: (*machine).pageFailed, inBroken: (*machine).pageBroke},
	openingStream:    {inOpened: (*machine).streamOpened, inSilent: (*machine).streamSilent, inFailed: (*machine).streamFailed},
	streaming:        {inEvents: (*machine).streamEvents, inBookmark: (*machine).streamBookmark, inClosed: (*machine).streamClosed, inSilent: (*machine).streamSilent, inFailed: (*machine).streamFailed},
	committingList:   {inCommitted: (*machine).listCommitted},
	committingStream: {inCommitted: (*machine).streamCommitted},
	openingWatch:     {inOpened: (*machine).watchOpened, inSilent: (*machine).watchSilent, inFailed: (*machine).watchFailed},
	watching:         {inEvents: (*machine).watchEvents, inBookmark: (*machine).watchBookmark, inAsked: (*machine).watchAsked, inClosed: (*machine).watchClosed, inSilent: (*machine).watchSilent, inFailed: (*machine).watchFailed},
	waitingToList:    {inWaited: (*machine).requestFullState},
	waitingToPage:    {inWaited: (*machine).repeatPage},
	waitingToWatch:   {inWaited: (*machine).waitedToWatch},
	stopped:          {},
}

// step takes an input and returns an action. Leaving a phase closes its connection and aborts its
// full state. A full state begins with the first phase that has one.
func (m *machine) step(in input) action {
	m.timePassed(in)
	before := m.phase
	a := m.next(in)
	if m.phase != paging && m.phase != waitingToPage {
		m.failures.pageRepeats = 0
	}
	a.close = before.connected() && !m.phase.connected()
	a.abort = before.replacing() && !m.phase.replacing() && in.kind != inCommitted
	a.begin = !before.replacing() && m.phase.replacing()
	if a.begin && m.beginsHistory(in) {
		a.history = NewHistory
	}
	return a
}

func (m *machine) next(in input) action {
	switch in.kind {
	case inStop:
		m.phase = stopped
		return action{op: doStop}
	case inSinkFailed:
		return m.waitToList(m.fail())
	}
	return table[m.phase][in.kind](m, in)
}

// timePassed resets facts that have expired.
func (m *machine) timePassed(in input) {
	if in.healthy {
		m.failures.count, m.failures.waits, m.failures.missing, m.failures.freeRelistUsed = 0, 0, 0, false
	}
	if in.enableStreams {
		m.server.streamsDisabled = false
	}
}

// beginsHistory reports whether objects of equal versions may differ from those of the new full
// state. The version of a list may arrive after its items. Without a known version, there is
// nothing to compare.
func (m *machine) beginsHistory(in input) bool {
	switch {
	case m.history.state == rolledBack:
		return true
	case in.kind == inPage:
		return in.version == ""
	case in.kind == inItems:
		return !m.compares()
	case in.kind == inOpened:
		return m.history.versions == versionsAbsent
	default:
		return false
	}
}

// compares reports whether an object of the next full state equals the object of the same version in the sink.
func (m *machine) compares() bool {
	return m.version != "" && m.history.versions != versionsAbsent && m.history.state != rolledBack
}

// start requests the first full state.
func (m *machine) start() action { return m.relist(action{}) }

// markAtLatest makes the next full state request use "". The machine still compares other versions
// with the known one.
func (m *machine) markAtLatest() {
	if m.history.state == known {
		m.history.state = atLatest
	}
}

// rollBack distrusts all versions known so far.
func (m *machine) rollBack() action {
	m.history.state = rolledBack
	return action{rolledBack: true}
}

// fail counts and reports a failure.
func (m *machine) fail() action {
	m.failures.count++
	return action{failed: true}
}

// ask sets the request of the action and of the machine.
func (m *machine) ask(a action, p phase, o op, r request) action {
	m.phase, m.request = p, r
	a.op, a.request = o, r
	return a
}

// waitToList backs off and then requests a full state.
func (m *machine) waitToList(a action) action {
	m.failures.waits++
	m.phase = waitingToList
	a.op, a.attempt = doWait, m.failures.waits
	return a
}

// waitToPage backs off and then requests the same page again. Earlier pages prove that the server
// is healthy, so the back-offs of each page start over.
func (m *machine) waitToPage(a action) action {
	m.failures.pageRepeats++
	m.phase = waitingToPage
	a.op, a.attempt = doWait, m.failures.pageRepeats
	return a
}

// waitToWatch backs off and then reopens the watch.
func (m *machine) waitToWatch(a action, attempt int) action {
	m.phase = waitingToWatch
	a.op, a.attempt = doWait, attempt
	return a
}

// older reports whether a state at this version proves that the history went back. A new history
// cannot go back.
func (m *machine) older(version string) bool {
	return m.history.state != rolledBack && object.Older(version, m.version)
}

// asksForServersVersion reports whether the requested version came from a server. That version may
// have been wrong, or from another kind of server.
func (m *machine) asksForServersVersion() bool {
	return m.request.version != "" && m.request.version != "0"
}

// check panics if an invariant is violated.
func (m *machine) check() {
	streams := m.phase == openingStream || m.phase == streaming || m.phase == committingStream
	watches := m.phase == openingWatch || m.phase == watching
	verify.That(!streams || m.streamSupport != StreamingUnsupported && m.history.state != rolledBack, "a stream of a new history, or from a source that cannot")
	verify.That(!watches || m.history.state == known, "watching from a version that is not served")
	verify.That(!streams || !m.server.streamsDisabled && !m.server.missing, "a stream while only lists may be requested")
	verify.That(!m.server.missing || m.history.state != known, "a missing resource whose version is served")
	verify.That(m.failures.pageRepeats <= maxPageRepeats, "a page was requested again %d times", m.failures.pageRepeats)
	verify.That(m.failures.pageRepeats == 0 || m.phase == paging || m.phase == waitingToPage, "repetitions of a page in phase %d", m.phase)
	verify.That(m.phase != waitingToPage || m.request.token != "", "waits for a page without a token")
	verify.That(m.request.token == "" || m.phase != listing && !streams && !watches, "a token in phase %d", m.phase)
}
