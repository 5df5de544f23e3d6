package reflector

import (
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// defaultPageSize is the page size of lists that etcd may have to answer.
const defaultPageSize = 500

// maxPageRepeats is how often a page is requested again from a busy server before its list begins anew.
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
	watching                      // the events of a watch, or of a stream that goes on as one
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

// replacing reports whether a full state is under way in a phase: after Begin, and before Commit or
// Abort.
func (p phase) replacing() bool {
	return p == paging || p == waitingToPage || p == streaming || p == committingList || p == committingStream
}

// class is the kind of an error, as far as the machine has to know.
type class uint8

const (
	classOther       class = iota
	classExpired           // the server no longer has the requested version
	classTooLarge          // the server does not have the requested version yet
	classBusy              // 429, a Retry-After, or no answer, since the connection could not be made or broke
	classUnavailable       // 503
	classInvalid           // the server rejects the request, perhaps because of its version
	classMissing           // the server does not serve the resource
)

// inputKind names what happened. From inClosed on, something ended.
type inputKind uint8

const (
	inItems      inputKind = iota + 1 // items of a page came, before its end; they are not written yet
	inPage                            // a page came, or its last items; they are not written yet
	inOpened                          // the stream or watch was accepted
	inEvents                          // a batch of changes was written
	inBookmark                        // a bookmark came
	inCommitted                       // the sink took the full state
	inWaited                          // the back-off is over
	inAsked                           // somebody waits for a bookmark
	inClosed                          // the server closed the stream or watch
	inSilent                          // the stream or watch brought nothing for too long
	inFailed                          // a request failed, or an error came as an event
	inBroken                          // a page broke off after some of its items were written
	inSinkFailed                      // a call of the sink failed
	inStop                            // the reflector is to end
	inputs
)

// input is one thing that happened, with the facts about time that matter.
type input struct {
	kind  inputKind
	class class // inFailed
	// version is the version of a page, of the last change of a batch, or of a bookmark.
	version string
	token   string // inPage: the continue token of the next page, if there is one
	changed bool   // inEvents: the batch holds more than Added
	end     bool   // inBookmark: it ends an initial state
	short   bool   // inClosed: less than a second after the request
	slow    bool   // inOpened: a second or more after the request

	healthy       bool // a watch has been open for two minutes without a failure
	enableStreams bool // streams were disabled at least ten minutes ago
}

// op is the operation at the end of an action; its comment lists the possible results.
type op uint8

const (
	doList     op = iota + 1 // request a page: inItems, inPage, inFailed
	doReadPage               // read on in a page that is arriving: inItems, inPage, inBroken
	doStream                 // open a stream at version: inOpened, inSilent, inFailed
	doWatch                  // open a watch at version: inOpened, inSilent, inFailed
	doRead                   // read events: inEvents, inBookmark, inAsked, inClosed, inSilent, inFailed, inSinkFailed
	doCommit                 // commit the full state at version: inCommitted, inSinkFailed
	doWait                   // back off: inWaited
	doStop                   // end
)

// request is a request of a full state, a page or a watch.
type request struct {
	version string
	token   string
	limit   int64
	// brief, of a watch, lets the server end it after some seconds: before that it sends a bookmark. The machine's
	// last request is not brief any more once that has come.
	brief bool
}

// action says what to do next: the set fields of the first block, in their order, and then op. The
// result of op is the next input. If the sink fails in begin, write or bookmark, the next input is
// inSinkFailed, and op is not performed.
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

	failed          bool // a failure to report
	streamsDisabled bool // streams are disabled for a while, to be reported
	rolledBack      bool // a history that went back, to be reported
	historyUnknown  bool // the first full state without a version, to be reported
	missing         bool // doWait: the failure to report is that the resource is missing
}

// history tracks the server's history. It lives as long as the reflector.
type history struct {
	state    historyState
	versions versioning
}

// versioning tracks whether full states have versions.
type versioning uint8

const (
	versionsUnseen versioning = iota // no full state was committed yet
	versionsAbsent                   // no committed full state had a version; this was reported
	versionsKnown                    // a full state had a version; a later list without a version is an error (D26)
)

// historyState decides how full states are requested. The commit of a full state makes the history
// known.
type historyState uint8

const (
	known      historyState = iota // not older than the known version
	atLatest                       // at "": the server does not serve the known version, or nothing has confirmed it
	rolledBack                     // at "", by a list: the history went back, and a new one begins
)

// server tracks what the answers have shown about the server. It lives as long as the reflector,
// except streams.
type server struct {
	// pagesAt0: even lists at "0" come in pages, so there is no watch cache for a limit to bypass
	// (B46).
	pagesAt0 bool
	// bookmarks: a bookmark has arrived.
	bookmarks bool
	streams   streamsState
}

// streamsState decides whether a full state may be requested as a stream.
type streamsState uint8

const (
	streamsEnabled  streamsState = iota
	streamsDisabled              // for ten minutes, since a stream was given up
	resourceMissing              // until a list is committed: the server does not serve the resource
)

// failures tracks failures. A healthy time resets the first four fields.
type failures struct {
	// count is the number of failures, for reports, and waits the number of back-offs, which gives
	// the duration of the next one. They differ: some failures are answered with a request at once,
	// and some back-offs follow no failure.
	count, waits int
	// missing is the number of 404s. The back-offs after them have steps of their own, since a resource may
	// be missing for days on a server that is well.
	missing int
	// freeRelistUsed: the one relist without a wait was used.
	freeRelistUsed bool
	// lastWatchShort: the last watch brought something, and yet ended within a second. A healthy
	// time does not reset it; otherwise short watches would follow each other without a pause.
	lastWatchShort bool
	// pageRepeats is how often the present page was requested again.
	// Invariant: at most maxPageRepeats, and 0 but in paging and waitingToPage.
	pageRepeats int
	// listBroke: a list broke off within its items. Lists are requested in pages until a full
	// state is committed.
	listBroke bool
}

// watchFacts are facts about the open or requested stream or watch. Each request begins with new
// ones, which inherit the proof.
type watchFacts struct {
	active bool // it brought something
	// ordered: the watch is past the unordered Added events at the beginning of a watch without a
	// version (B63).
	ordered bool
	proof   proof
	// reopened: the watch follows one that the server closed. If it also opened slowly, there was
	// an outage: a client may retry by itself until the server is back, and the reflector sees
	// no failure.
	reopened bool
}

// proof tracks whether the server has confirmed the version of a watch.
type proof uint8

const (
	confirmed proof = iota
	// unconfirmed: no event or bookmark has arrived since an outage, or since a watch fell silent.
	// The server may have been restored meanwhile: it then accepts a version from the future, and
	// falls silent (D23).
	unconfirmed
)

// machine decides what a reflector does next. It is a value without clocks, locks or I/O: step takes
// an input and returns an action.
type machine struct {
	// These do not change: [Options].PageSize, and whether streams may be requested.
	pageSize      int64
	streamSupport Streaming

	phase   phase
	request request // the last request
	// origin is the requested version of a list's first page, and listed the version of the
	// answer, or of the last stream.
	origin, listed string
	// version is the newest version up to which the sink has all changes.
	// Invariant: it goes back only with the commit of a new history.
	version string

	history  history
	server   server
	failures failures
	watch    watchFacts
}

// cell handles an input in a phase.
type cell func(*machine, input) action

// table is the machine from its start on: it has a cell for each phase and input. An input without a cell cannot
// happen. inSinkFailed and inStop are handled alike in all phases.
//
// The cells, with "fail" for: count the failure and report it; "relist" for
// openingStream if the source streams, streams are enabled and the history
// did not go back, else for listing; and "older" for: than the known version, in
// a history that did not go back.
//
//	phase            input       where                               then                                next
//	listing          items                                           begin, write                        paging
//	listing, paging  page        no version, but one is due          fail                                waitingToList
//	                 page        the first, and older                report; rolledBack                  listing
//	                 page        more, last                          begin if listing, write             paging, committingList
//	listing          failed      expired, too large: asked for one   fail; atLatest                     listing
//	                 failed      invalid: asked for the server's     fail; atLatest                     listing
//	                 failed      missing                             fail; atLatest, resourceMissing    waitingToList
//	                 failed      else                                fail                                waitingToList
//	paging           items                                           write                               paging
//	                 failed      expired, with a limit               fail                                listing, without a limit
//	                 failed      busy, unavailable: up to ten times  fail                                waitingToPage
//	                 failed      missing                             fail; atLatest, resourceMissing    waitingToList
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
//	committingList   committed                                       version; known, confirmed; streams enabled if resourceMissing  openingWatch; report no version, once
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
//	                 failed      missing                             fail; atLatest, resourceMissing    waitingToList
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

// step takes an input and returns an action. Leaving a phase closes its connection, and aborts its
// full state; a full state begins with the first phase that has one.
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
	if in.enableStreams && m.server.streams == streamsDisabled {
		m.server.streams = streamsEnabled
	}
}

// beginsHistory reports whether equal versions do not mean equal objects in the new full state. The
// version of a list may arrive after its items; without a known version there is nothing to compare
// it with.
func (m *machine) beginsHistory(in input) bool {
	switch {
	case m.history.state == rolledBack:
		return true
	case in.kind == inPage:
		return in.version == ""
	case in.kind == inItems:
		return m.version == ""
	case in.kind == inOpened:
		return m.history.versions == versionsAbsent
	default:
		return false
	}
}

// start requests the first full state.
func (m *machine) start() action { return m.relist(action{}) }

func (m *machine) requestFullState(input) action { return m.relist(action{}) }

// items writes items of a list that is decoded while it arrives.
func (m *machine) items(input) action {
	m.phase = paging
	return action{write: true, op: doReadPage}
}

// page writes a page, and requests the next page or commits the list.
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
	// Neither etcd nor the watch cache take a version beside a token.
	return m.ask(a, paging, doList, request{token: in.token, limit: m.request.limit})
}

// versionIsDue reports whether a page must have a version. A page without one then comes from
// something between server and client, and would empty the store.
func (m *machine) versionIsDue() bool {
	if m.request.token != "" {
		return m.listed != ""
	}
	return m.history.versions == versionsKnown
}

// listFailed requests the list at "" if the server refused its version.
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

// pageFailed requests the list without pages if the token expired, since the version did not (B48). A busy
// server is asked for the same page again.
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

// streamSilent gives up streams. It is no failure if a source that may be unable to stream brings
// nothing at all.
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
	default:
		return m.refuseStream()
	}
}

func (m *machine) listCommitted(input) action { return m.openWatch(m.committed()) }

func (m *machine) streamCommitted(input) action {
	a := m.committed()
	m.phase, m.watch.ordered = watching, true
	a.op = doRead
	return a
}

// committed makes the full state the known one.
func (m *machine) committed() (a action) {
	m.version = m.request.version
	m.listed = m.version
	m.history.state = known
	m.watch.proof, m.failures.listBroke = confirmed, false
	if m.server.streams == resourceMissing {
		m.server.streams = streamsEnabled
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

// watchEvents takes over the version of a batch from the sink.
func (m *machine) watchEvents(in input) action {
	m.confirm()
	m.watch.ordered = m.watch.ordered || in.changed
	if m.watch.ordered {
		m.version = object.Advance(m.version, in.version)
	}
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
	m.watch.ordered, m.request.brief = true, false
	m.version = object.Advance(m.version, in.version)
	return a
}

// watchAsked replaces the present watch by a brief one. Two watches go on: a brief one that has not brought its
// bookmark yet; and the watch of a source that may be a fake, since a fake keeps no history, so that the changes between
// the two watches would be lost.
func (m *machine) watchAsked(input) action {
	if m.request.brief || m.streamSupport != StreamingSupported && !m.server.bookmarks {
		return action{op: doRead}
	}
	a := m.openWatch(action{})
	a.request.brief, m.request.brief = true, true
	return a
}

// watchClosed reopens a watch at once from its last version. But a watch that ended within a second
// without an event has failed, and after two watches in a row that ended within a second the next one
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

// watchSilent reopens a watch. Its connection may have been half-open, and the server restored
// meanwhile. Fakes, which neither stream nor send bookmarks, are silent by nature.
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
		if m.failures.freeRelistUsed && m.version == m.listed { // a cache may give an expired version again and again
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

// awaitResource backs off until the resource may be there, and then lists it from etcd: a cache may have
// objects of a deleted definition. The sink keeps its objects, since a 404 proves nothing.
func (m *machine) awaitResource(a action) action {
	m.server.streams = resourceMissing
	m.markAtLatest()
	m.failures.missing++
	m.phase = waitingToList
	a.op, a.attempt, a.missing = doWait, m.failures.missing, true
	return a
}

// confirm records that the stream or watch brought something.
func (m *machine) confirm() {
	m.watch.active = true
	if m.watch.proof == unconfirmed {
		m.watch.proof = confirmed
	}
}

// distrust requests a full state at "", since nothing has confirmed the version.
func (m *machine) distrust() action {
	m.watch.proof = confirmed
	m.markAtLatest()
	return m.relist(action{})
}

// markAtLatest makes the next full state be requested at "". The machine still compares other versions
// with the known one.
func (m *machine) markAtLatest() {
	if m.history.state == known {
		m.history.state = atLatest
	}
}

// rollBack distrusts every version known so far.
func (m *machine) rollBack() action {
	m.history.state = rolledBack
	return action{rolledBack: true}
}

// fail counts and reports a failure.
func (m *machine) fail() action {
	m.failures.count++
	return action{failed: true}
}

// refuseStream gives up streams after one that has failed at once. That is no error, since a list
// follows: it succeeds, or its own error is reported (D10: an error is reported once).
func (m *machine) refuseStream() action { return m.disableStreams(action{}) }

// disableStreams gives up streams for streamsDisabledFor. A list follows at once.
func (m *machine) disableStreams(a action) action {
	m.server.streams, a.streamsDisabled = streamsDisabled, true
	return m.list(a)
}

// relistSoon requests a full state: the first time since the last healthy time at once, and after a
// back-off from then on (D9).
func (m *machine) relistSoon(a action) action {
	if m.failures.freeRelistUsed {
		return m.waitToList(a)
	}
	m.failures.freeRelistUsed = true
	return m.relist(a)
}

// relist requests a full state, as a stream if possible. A new history is listed, so that it does not
// depend on caches.
func (m *machine) relist(a action) action {
	if m.streamSupport != StreamingUnsupported && m.server.streams == streamsEnabled && m.history.state != rolledBack {
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

// list requests the first page of a list. At "" the server reads etcd, by pages. At any other version
// it reads its watch cache, but only without a limit; only "0" may have a limit (B44).
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
	m.watch = watchFacts{proof: m.watch.proof, ordered: m.version != "" && m.version != "0"}
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

// waitToList backs off; then a full state is requested.
func (m *machine) waitToList(a action) action {
	m.failures.waits++
	m.phase = waitingToList
	a.op, a.attempt = doWait, m.failures.waits
	return a
}

// waitToPage backs off; then the same page is requested again. Pages that have come prove that the server is
// well, so the back-offs of each page begin anew.
func (m *machine) waitToPage(a action) action {
	m.failures.pageRepeats++
	m.phase = waitingToPage
	a.op, a.attempt = doWait, m.failures.pageRepeats
	return a
}

// waitToWatch backs off; then the watch is reopened.
func (m *machine) waitToWatch(a action, attempt int) action {
	m.phase = waitingToWatch
	a.op, a.attempt = doWait, attempt
	return a
}

// older reports whether a state at this version proves that the history went back. A new history
// cannot have gone back.
func (m *machine) older(version string) bool {
	return m.history.state != rolledBack && object.Older(version, m.version)
}

// asksForServersVersion reports whether the requested version came from a server. That may have been
// wrong, or from another kind of server.
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
	verify.That(!streams || m.server.streams == streamsEnabled, "a stream, though lists alone may be requested")
	verify.That(m.server.streams != resourceMissing || m.history.state != known, "a missing resource whose version is served")
	verify.That(m.failures.pageRepeats <= maxPageRepeats, "a page was requested again %d times", m.failures.pageRepeats)
	verify.That(m.failures.pageRepeats == 0 || m.phase == paging || m.phase == waitingToPage, "repetitions of a page in phase %d", m.phase)
	verify.That(m.phase != waitingToPage || m.request.token != "", "waits for a page without a token")
	verify.That(m.request.token == "" || m.phase != listing && !streams && !watches, "a token in phase %d", m.phase)
}
