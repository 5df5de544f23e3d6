package reflector

import (
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// defaultPageSize is the page size of lists that may be read from etcd.
const defaultPageSize = 500

// maxPageRepeats is how often the same page is requested again from a busy server before the list
// starts over.
const maxPageRepeats = 10

// phase is what the machine waits for.
type phase uint8

const (
	listing          phase = iota // the first page of a list, or its first items
	paging                        // the rest of a list, after its first items were written
	openingStream                 // a stream to be accepted
	streaming                     // the initial state of a stream
	committingList                // the sink to take a list
	committingStream              // the sink to take the initial state of a stream
	openingWatch                  // a watch to be accepted
	watching                      // the events of a watch, or of a stream that continues as a watch
	waitingToList                 // a back-off to pass; then a full state is requested
	waitingToPage                 // a back-off to pass; then the same page is requested again
	waitingToWatch                // a back-off to pass; then the watch is opened again
	stopped                       // nothing, ever
	phases
)

// connected reports whether a stream or watch is open in a phase.
func (p phase) connected() bool {
	return p == streaming || p == committingStream || p == watching
}

// replacing reports whether a full state is in progress in a phase: after Begin, and before Commit
// or Abort.
func (p phase) replacing() bool {
	return p == paging || p == waitingToPage || p == streaming || p == committingList || p == committingStream
}

// class is the kind of an error, as far as the machine needs it.
type class uint8

const (
	classOther       class = iota
	classExpired           // the server no longer has the requested version
	classTooLarge          // the server does not have the requested version yet
	classBusy              // 429, a Retry-After, or no answer because the connection failed or broke
	classUnavailable       // 503
	classInvalid           // the server rejects the request, perhaps because of its version
	classMissing           // the server does not serve the resource
)

// inputKind says what happened. All kinds from inClosed on are ends.
type inputKind uint8

const (
	inItems      inputKind = iota + 1 // items of a page arrived before its end; not written yet
	inPage                            // a page arrived, or its last items; not written yet
	inOpened                          // the stream or watch was accepted
	inEvents                          // a batch of changes was written
	inBookmark                        // a bookmark arrived
	inCommitted                       // the sink took the full state
	inWaited                          // the back-off is over
	inAsked                           // a caller waits for a bookmark
	inClosed                          // the server closed the stream or watch
	inSilent                          // the stream or watch sent nothing for too long
	inFailed                          // a request failed, or an error arrived as an event
	inBroken                          // a page broke off after some of its items were written
	inSinkFailed                      // a call of the sink failed
	inStop                            // the reflector must end
	inputs
)

// input is something that happened, with the facts about time that matter.
type input struct {
	kind  inputKind
	class class // inFailed
	// version is the version of a page, of a bookmark, or that a batch of changes has reached.
	version string
	token   string // inPage: the continue token of the next page, if there is one
	end     bool   // inBookmark: it ends an initial state
	short   bool   // inClosed: less than a second after the request
	slow    bool   // inOpened: a second or more after the request

	healthy       bool // a watch has been open for two minutes without a failure
	enableStreams bool // streams were disabled at least ten minutes ago
}

// op is the operation at the end of an action. Each comment lists the possible results.
type op uint8

const (
	doList     op = iota + 1 // request a page: inItems, inPage, inFailed
	doReadPage               // continue to read a page: inItems, inPage, inBroken
	doStream                 // open a stream at version: inOpened, inSilent, inFailed
	doWatch                  // open a watch at version: inOpened, inSilent, inFailed
	doRead                   // read events: inEvents, inBookmark, inAsked, inClosed, inSilent, inFailed, inSinkFailed
	doCommit                 // commit the full state at version: inCommitted, inSinkFailed
	doWait                   // back off: inWaited
	doStop                   // end
)

// request is a request for a full state, a page or a watch.
type request struct {
	version string
	token   string
	limit   int64
	// brief gives a watch a timeout of some seconds, because a server sends a bookmark before it
	// ends a watch. When the bookmark arrives, the machine resets brief in its last request.
	brief bool
}

// action says what to do next: the set fields of the first block, in their order, and then op. The
// result of op is the next input. If the sink fails in begin, write or bookmark, the next input is
// inSinkFailed and the loop skips op.
type action struct {
	close    bool   // close the stream or watch that is open
	abort    bool   // abort the full state
	begin    bool   // begin a full state, of history
	write    bool   // write the items of the page
	bookmark string // write a bookmark

	history History
	op      op
	request request // doList; doStream, doWatch and doCommit use its version
	attempt int     // doWait: the step of the back-off, from 1

	failed          bool // report a failure
	streamsDisabled bool // report that streams are disabled for a while
	rolledBack      bool // report that the history went back
	historyUnknown  bool // report the first full state without a version
	missing         bool // doWait: report a missing resource as the failure
}

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
	streams   streamsState
	// missing is true from a 404 of a list or watch until a list is committed. Meanwhile, only lists
	// are requested.
	missing bool
}

// streamsState determines whether a full state may be requested as a stream.
type streamsState uint8

const (
	streamsEnabled  streamsState = iota
	streamsDisabled              // for ten minutes after a stream that did not work
	streamNotFound               // the same after a 404, until a list shows whether it is the resource that is missing
)

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
//
//	phase            input       where                               then                                next
//	listing          items                                           begin, write                        paging
//	listing, paging  page        no version, but one is due          fail                                waitingToList
//	                 page        the first, and older                report; rolledBack                  listing
//	                 page        more, last                          begin if listing, write             paging, committingList
//	listing          failed      expired, too large: asked for one   fail; atLatest                     listing
//	                 failed      invalid: asked for the server's     fail; atLatest                     listing
//	                 failed      missing                             fail; missing, atLatest, enabled if streamNotFound  waitingToList
//	                 failed      else                                fail                                waitingToList
//	paging           items                                           write                               paging
//	                 failed      expired, with a limit               fail                                listing, without a limit
//	                 failed      busy, unavailable: up to ten times  fail                                waitingToPage
//	                 failed      missing                             fail; missing, atLatest, enabled if streamNotFound  waitingToList
//	                 failed      else                                fail                                waitingToList
//	                 broken                                          fail; listBroke                     waitingToList
//	openingStream    opened                                          begin                               streaming
//	openingStream,   failed      expired, too large: asked for one   fail; atLatest                     openingStream
//	 streaming       failed      busy                                fail                                waitingToList
//	openingStream,   failed      missing                             report; streamNotFound              listing
//	 streaming       failed      else                                report; streamsDisabled             listing
//	 streaming       silent      unconfirmed                         confirmed; atLatest                relist
//	                 silent      nothing came, and it may not stream report; streamsDisabled             listing
//	                 silent      else                                fail; streamsDisabled               listing
//	streaming        events      ; bookmark, not the last            active, confirmed                   streaming
//	                 bookmark    the last: no version, but one is due report; streamsDisabled            listing
//	                 bookmark    the last, and older                 report; rolledBack                  listing
//	                 bookmark    the last                            active, confirmed                   committingStream
//	                 closed                                          report; streamsDisabled             listing
//	committingList   committed                                       version; known, confirmed, not missing, streamsDisabled if streamNotFound  openingWatch; report no version, once
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
//	                 failed      missing                             fail; missing, atLatest, enabled if streamNotFound  waitingToList
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
		m.server.streams = streamsEnabled
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

func (m *machine) requestFullState(input) action { return m.relist(action{}) }

// items writes items of a list that is decoded while it arrives.
func (m *machine) items(input) action {
	m.phase = paging
	return action{write: true, op: doReadPage}
}

// page writes a page, and then requests the next page or commits the list.
func (m *machine) page(in input) action {
	first := m.request.token == ""
	switch {
	case in.version == "" && m.versionIsDue():
		return m.waitToList(m.fail())
	case first && m.older(in.version):
		return m.relist(m.rollBack())
	case first:
		m.listed = in.version
		m.server.pagesAt0 = m.server.pagesAt0 || m.request.version == "0" && in.token != ""
	}
	m.failures.pageRepeats = 0
	a := action{write: true}
	if in.token == "" {
		return m.commit(a, committingList, m.listed)
	}
	// Neither etcd nor the watch cache accepts a version together with a token.
	return m.ask(a, paging, doList, request{token: in.token, limit: m.request.limit})
}

// versionIsDue reports whether a page must have a version. If so, a page without a version comes
// from something between server and client, and would empty the store.
func (m *machine) versionIsDue() bool {
	if m.request.token != "" {
		return m.listed != ""
	}
	return m.history.versions == versionsKnown
}

// listFailed requests the list at "" if the server refused the version.
func (m *machine) listFailed(in input) action {
	a := m.fail()
	switch {
	case in.unavailable() && m.request.version != "", in.class == classInvalid && m.asksForServersVersion():
		m.markAtLatest()
		return m.list(a)
	case in.class == classMissing:
		return m.awaitResource(a)
	default:
		return m.waitToList(a)
	}
}

// pageFailed requests the list without pages if the token expired, because the version did not
// (B48). If the server is busy, it requests the same page again.
func (m *machine) pageFailed(in input) action {
	a := m.fail()
	switch {
	case in.class == classExpired && m.request.limit != 0:
		return m.ask(a, listing, doList, request{version: m.origin})
	case (in.class == classBusy || in.class == classUnavailable) && m.failures.pageRepeats < maxPageRepeats:
		return m.waitToPage(a)
	case in.class == classMissing:
		return m.awaitResource(a)
	default:
		return m.waitToList(a)
	}
}

func (m *machine) repeatPage(input) action { return m.ask(action{}, paging, doList, m.request) }

func (m *machine) pageBroke(input) action {
	m.failures.listBroke = true
	return m.waitToList(m.fail())
}

func (m *machine) streamOpened(input) action {
	m.phase = streaming
	return action{op: doRead}
}

func (m *machine) streamEvents(input) action {
	m.confirm()
	return action{op: doRead}
}

// streamBookmark commits the initial state at its final bookmark.
func (m *machine) streamBookmark(in input) action {
	m.confirm()
	m.server.bookmarks = true
	switch {
	case !in.end:
		return action{op: doRead}
	case in.version == "" && m.history.versions == versionsKnown:
		return m.refuseStream()
	case m.older(in.version):
		return m.relist(m.rollBack())
	default:
		return m.commit(action{}, committingStream, in.version)
	}
}

func (m *machine) streamClosed(input) action { return m.refuseStream() }

// streamSilent disables streams. If a source that may be unable to stream sends nothing at all,
// this is not a failure.
func (m *machine) streamSilent(input) action {
	switch {
	case m.watch.proof == unconfirmed:
		return m.distrust()
	case m.streamSupport == StreamingUnknown && !m.watch.active:
		return m.refuseStream()
	default:
		return m.disableStreams(m.fail())
	}
}

func (m *machine) streamFailed(in input) action {
	switch {
	case in.unavailable() && m.request.version != "":
		a := m.fail()
		m.markAtLatest()
		return m.stream(a)
	case in.class == classBusy:
		return m.waitToList(m.fail())
	case in.class == classMissing:
		a := m.refuseStream()
		m.server.streams = streamNotFound
		return a
	default:
		return m.refuseStream()
	}
}

func (m *machine) listCommitted(input) action { return m.openWatch(m.committed()) }

func (m *machine) streamCommitted(input) action {
	a := m.committed()
	m.phase = watching
	a.op = doRead
	return a
}

// committed makes the full state the known one.
func (m *machine) committed() (a action) {
	m.version = m.request.version
	m.listed = m.version
	m.history.state = known
	m.watch.proof, m.failures.listBroke, m.server.missing = confirmed, false, false
	if m.server.streams == streamNotFound { // it was not the resource that was missing
		m.server.streams = streamsDisabled
	}
	switch {
	case m.version != "":
		m.history.versions = versionsKnown
	case m.history.versions == versionsUnseen:
		m.history.versions, a.historyUnknown = versionsAbsent, true
	}
	return a
}

func (m *machine) watchOpened(in input) action {
	m.phase = watching
	if m.watch.proof == confirmed && m.watch.reopened && in.slow {
		m.watch.proof = unconfirmed
	}
	return action{op: doRead}
}

// watchEvents takes the version that the sink has reached.
func (m *machine) watchEvents(in input) action {
	m.confirm()
	m.version = object.Advance(m.version, in.version)
	return action{op: doRead}
}

func (m *machine) watchBookmark(in input) action {
	m.confirm()
	m.server.bookmarks = true
	if m.older(in.version) {
		return m.relistSoon(m.rollBack())
	}
	a := action{bookmark: in.version, op: doRead}
	m.watch.proof = confirmed
	m.request.brief = false
	m.version = object.Advance(m.version, in.version)
	return a
}

// watchAsked replaces the open watch by a brief one. It keeps a brief watch that still waits for
// its bookmark. It also keeps the watch of a source that may be a fake: a fake keeps no history, so
// changes between the two watches would be lost.
func (m *machine) watchAsked(input) action {
	if m.request.brief || m.streamSupport != StreamingSupported && !m.server.bookmarks {
		return action{op: doRead}
	}
	a := m.openWatch(action{})
	a.request.brief, m.request.brief = true, true
	return a
}

// watchClosed reopens a watch at once from its last version. But a watch that ended within a second
// without an event has failed. After two watches in a row that ended within a second, the next one
// waits, so that no server can cause a hot loop.
func (m *machine) watchClosed(in input) action {
	if in.short && !m.watch.active {
		return m.waitToList(m.fail())
	}
	lastShort := m.failures.lastWatchShort
	m.failures.lastWatchShort = in.short
	if in.short && lastShort {
		return m.waitToWatch(action{}, 1)
	}
	a := m.openWatch(action{})
	m.watch.reopened = true
	return a
}

// watchSilent reopens a watch. Its connection may have been half-open, and the server may have been
// restored meanwhile. Silence is normal for fakes, which neither stream nor send bookmarks.
func (m *machine) watchSilent(input) action {
	if m.watch.proof == unconfirmed {
		return m.distrust()
	}
	a := m.fail()
	if m.asksForServersVersion() && (m.streamSupport != StreamingUnsupported || m.server.bookmarks) {
		m.watch.proof = unconfirmed
	}
	return m.openWatch(a)
}

func (m *machine) watchFailed(in input) action {
	a := m.fail()
	switch in.class {
	case classBusy:
		m.failures.waits++
		return m.waitToWatch(a, m.failures.waits)
	case classExpired:
		if m.failures.freeRelistUsed && m.version == m.listed { // a cache may return the same expired version again and again
			m.markAtLatest()
		}
		return m.relistSoon(a)
	case classMissing:
		return m.awaitResource(a)
	default:
		return m.waitToList(a)
	}
}

func (m *machine) waitedToWatch(input) action {
	m.watch.proof = unconfirmed
	return m.openWatch(action{})
}

// awaitResource backs off and then lists the resource from etcd, because a cache may still have the
// objects of a deleted definition. The sink keeps its objects, because a 404 proves nothing.
func (m *machine) awaitResource(a action) action {
	m.server.missing = true
	if m.server.streams == streamNotFound {
		m.server.streams = streamsEnabled
	}
	m.markAtLatest()
	m.failures.missing++
	m.phase = waitingToList
	a.op, a.attempt, a.missing = doWait, m.failures.missing, true
	return a
}

// confirm records that the stream or watch sent something.
func (m *machine) confirm() {
	m.watch.active = true
	if m.watch.proof == unconfirmed {
		m.watch.proof = confirmed
	}
}

// distrust requests a full state at "" because nothing has confirmed the version.
func (m *machine) distrust() action {
	m.watch.proof = confirmed
	m.markAtLatest()
	return m.relist(action{})
}

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

// refuseStream disables streams after a stream that failed at once. It reports no error: a list
// follows, which succeeds or reports its own error (D10: an error is reported once).
func (m *machine) refuseStream() action { return m.disableStreams(action{}) }

// disableStreams disables streams for streamsDisabledFor. A list follows at once.
func (m *machine) disableStreams(a action) action {
	m.server.streams, a.streamsDisabled = streamsDisabled, true
	return m.list(a)
}

// relistSoon requests a full state: at once for the first time since the last healthy period, and
// after a back-off from then on (D9).
func (m *machine) relistSoon(a action) action {
	if m.failures.freeRelistUsed {
		return m.waitToList(a)
	}
	m.failures.freeRelistUsed = true
	return m.relist(a)
}

// relist requests a full state, as a stream if possible. A new history uses a list, which does not
// depend on caches.
func (m *machine) relist(a action) action {
	if m.streamSupport != StreamingUnsupported && m.server.streams == streamsEnabled && !m.server.missing && m.history.state != rolledBack {
		return m.stream(a)
	}
	return m.list(a)
}

func (m *machine) stream(a action) action {
	m.watch = watchFacts{proof: m.watch.proof}
	r := request{version: m.version}
	if m.history.state != known {
		r.version = ""
	}
	return m.ask(a, openingStream, doStream, r)
}

// list requests the first page of a list. At "" the server reads etcd, in pages. At any other
// version it reads its watch cache, but only if the request has no limit. Only "0" may have a limit
// (B44).
func (m *machine) list(a action) action {
	r := request{version: m.version, limit: m.pageSize}
	switch {
	case m.history.state != known, m.failures.listBroke: // a server pages what it reads from etcd
		r.version = ""
	case r.version == "":
		r.version = "0"
	}
	if r.limit == 0 && (m.server.pagesAt0 || r.version == "" || r.version == "0") {
		r.limit = defaultPageSize
	}
	m.origin = r.version
	return m.ask(a, listing, doList, r)
}

func (m *machine) openWatch(a action) action {
	m.watch = watchFacts{proof: m.watch.proof}
	return m.ask(a, openingWatch, doWatch, request{version: m.version})
}

func (m *machine) commit(a action, p phase, version string) action {
	return m.ask(a, p, doCommit, request{version: version})
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

// unavailable reports whether the server does not have the requested version.
func (in input) unavailable() bool { return in.class == classExpired || in.class == classTooLarge }

// check panics if an invariant is violated.
func (m *machine) check() {
	streams := m.phase == openingStream || m.phase == streaming || m.phase == committingStream
	watches := m.phase == openingWatch || m.phase == watching
	verify.That(!streams || m.streamSupport != StreamingUnsupported && m.history.state != rolledBack, "a stream of a new history, or from a source that cannot")
	verify.That(!watches || m.history.state == known, "watching from a version that is not served")
	verify.That(!streams || m.server.streams == streamsEnabled && !m.server.missing, "a stream while only lists may be requested")
	verify.That(!m.server.missing || m.history.state != known, "a missing resource whose version is served")
	verify.That(m.failures.pageRepeats <= maxPageRepeats, "a page was requested again %d times", m.failures.pageRepeats)
	verify.That(m.failures.pageRepeats == 0 || m.phase == paging || m.phase == waitingToPage, "repetitions of a page in phase %d", m.phase)
	verify.That(m.phase != waitingToPage || m.request.token != "", "waits for a page without a token")
	verify.That(m.request.token == "" || m.phase != listing && !streams && !watches, "a token in phase %d", m.phase)
}
