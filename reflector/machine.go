package reflector

import (
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// defaultPageSize is the page size of lists that etcd may have to answer.
const defaultPageSize = 500

// phase is what the machine waits for.
type phase uint8

const (
	idle       phase = iota // nothing was asked for yet
	listing                 // for a page of a list, of which nothing has come
	receiving               // for more items of a page, of which some were written
	streaming               // for a stream to open, or for its initial state
	committing              // for the sink to take a full state
	watching                // for a watch to open, or for its events
	waiting                 // for a back-off to pass
	stopped                 // for nothing, ever
)

// class is all that the machine knows of an error.
type class uint8

const (
	classOther    class = iota
	classExpired        // the version asked for is no longer there
	classTooLarge       // the version asked for is not there yet
	classBusy           // connection refused, or too many requests
	classInvalid        // the server does not take the request, perhaps for its version
)

// inputKind names what happened. From inClosed on, something ended.
type inputKind uint8

const (
	inStart      inputKind = iota + 1
	inItems                // items of a page came, before its end; they are not written yet
	inPage                 // a page came, or its end: what was not written of it is at hand
	inOpened               // the stream or watch was accepted
	inEvents               // a batch of changes was written
	inBookmark             // a bookmark came
	inCommitted            // the sink took the full state
	inWaited               // the back-off is over
	inClosed               // the server closed the stream or watch
	inSilent               // the stream or watch brought nothing for too long
	inFailed               // a request failed, or an error came as an event
	inSinkFailed           // the sink refused what the action told it
	inStop                 // the reflector is to end
)

// input is one thing that happened, with the facts about time that matter.
type input struct {
	kind  inputKind
	class class // inFailed
	// version is that of a page, of the last change of a batch, or of a bookmark.
	version string
	token   string // inPage: what to ask for the next page with, if there is one
	changed bool   // inEvents: the batch holds more than Added
	end     bool   // inBookmark: it ends an initial state
	short   bool   // inClosed: less than a second after it was asked for
	slow    bool   // inOpened: a second or more after it was asked for

	healthy     bool // there were two minutes without a failure, a watch being open
	retryStream bool // the last refused stream is ten minutes old
}

// op is the one request that an action ends in.
type op uint8

const (
	doList    op = iota + 1 // ask for the page of request: inPage, inFailed
	doReceive               // read on in a page: inItems, inPage, inFailed
	doStream                // open a stream at version: inOpened, inSilent, inFailed
	doWatch                 // open a watch at version: inOpened, inSilent, inFailed
	doRead                  // read on: inEvents, inBookmark, inClosed, inSilent, inFailed, inSinkFailed
	doCommit                // commit what was begun at version: inCommitted, inSinkFailed
	doWait                  // back off: inWaited
	doStop                  // end
)

// request says which full state, page or watch is asked for.
type request struct {
	version string
	token   string
	limit   int64
}

// action is what to do next: what is set of the first block, in its order;
// then op, whose outcome is the next input. Should the sink refuse begin,
// write or bookmark, the outcome is inSinkFailed and op is not done.
type action struct {
	stop     bool   // hang up the stream or watch that is open
	abort    bool   // drop the full state that was begun
	begin    bool   // begin a full state, of history
	write    bool   // write what came of the page
	bookmark string // write a bookmark

	history History
	op      op
	request request // doList; doStream, doWatch and doCommit use its version
	attempt int     // doWait: the step of the back-off, from 1

	failed   bool // a failure to report
	refused  bool // a refused stream to report
	wentBack bool // a history that went back to report
}

// machine decides what a reflector does next. It is a value without clocks,
// locks or I/O: step takes what happened and returns what to do.
type machine struct {
	// pageSize and streams never change: [Options].PageSize, and whether the
	// source may be asked for streams at all.
	pageSize int64
	streams  bool

	phase phase
	// open says that a stream or watch was accepted and not hung up.
	// Invariant: open => phase is streaming, committing or watching.
	open bool
	// begun says that the sink was told Begin, and neither Commit nor Abort.
	// Invariant: streaming: begun == open; listing: begun == (request.token != "");
	// receiving, committing: begun; else: !begun.
	begun bool
	// request is the last one made; origin the version that the first page of
	// the list was asked for, and listed the version that it came with.
	request        request
	origin, listed string
	// rewatch says what follows the wait: the watch, or a full state.
	rewatch bool

	// version is the newest one up to which the sink knows everything.
	// Invariant: it never goes back, but by the commit of a new history.
	version string
	// settled says that the watch is past the unordered Added events that it
	// begins with when it was opened at no version (B63).
	settled bool
	// stale says that the server does not serve version: full states are
	// asked for at "" until one is committed.
	stale bool
	// fresh says that the server's history went back and that no state of the
	// new one was committed yet. Invariant: fresh => stale.
	fresh bool
	// suspect says that the watch follows an outage, or one that fell silent, and
	// has brought nothing: a server that was set back meanwhile takes a version of
	// the future, and falls silent (D23).
	suspect bool
	// bookmarked says that the source has sent a bookmark once.
	bookmarked bool
	// reopened says that the watch follows one that the server closed. If it was
	// slow to open too, it follows an outage: a client may try again by itself
	// until the server is back, and no failure is seen here.
	reopened bool
	// paged says that the server pages even lists at "0": it has no watch
	// cache that a limit would bypass (B46).
	paged bool
	// cut says that a list broke off within its items: lists are asked for in
	// pages, until a full state is committed.
	cut bool
	// refused says that streams are not tried for the time being.
	refused bool

	// failures and waits count since the last healthy time; spent says that
	// the one relist without a wait was used up since then.
	failures, waits int
	spent           bool
	// brought says that the stream or watch brought something, hasty that the
	// last watch did and yet ended within a second.
	brought, hasty bool
}

// step takes what happened and returns what to do.
func (m *machine) step(in input) action {
	if in.healthy {
		m.failures, m.waits, m.spent = 0, 0, false
	}
	if in.retryStream {
		m.refused = false
	}
	switch in.kind {
	case inEvents:
		return m.events(in)
	case inBookmark:
		return m.bookmark(in)
	case inItems:
		return m.items()
	case inPage:
		return m.page(in)
	case inOpened:
		return m.opened(in.slow)
	case inCommitted:
		return m.committed()
	case inStart:
		return m.relist(action{})
	case inWaited:
		if m.rewatch {
			m.suspect = true
			return m.watch(action{})
		}
		return m.relist(action{})
	case inClosed:
		return m.closed(in.short)
	case inSilent:
		return m.silent()
	case inFailed:
		return m.failed(in.class)
	case inStop:
		return m.stop()
	default: // inSinkFailed
		return m.wait(m.fail())
	}
}

// events notes the version of a batch that the sink took.
func (m *machine) events(in input) action {
	m.brought, m.suspect = true, false
	m.settled = m.settled || in.changed
	if m.phase == watching && m.settled {
		m.version = object.Advance(m.version, in.version)
	}
	return action{op: doRead}
}

// bookmark commits the initial state that it ends, or notes the progress.
func (m *machine) bookmark(in input) action {
	m.brought, m.suspect, m.bookmarked = true, false, true
	if m.phase == streaming && !in.end {
		return action{op: doRead}
	}
	if m.behind(in.version) {
		a := m.wentBack(m.leave())
		if m.phase == streaming {
			return m.relist(a)
		}
		return m.relistSoon(a)
	}
	if m.phase == streaming {
		return m.commit(action{}, in.version)
	}
	m.settled = true
	m.version = object.Advance(m.version, in.version)
	return action{bookmark: in.version, op: doRead}
}

// items begins a full state with the first items of a list that is read as it
// arrives. The version of the list may come behind them. Where none is known
// yet, equal versions of objects prove nothing.
func (m *machine) items() action {
	a := action{write: true, op: doReceive}
	if !m.begun {
		m.begin(&a, m.version != "")
	}
	m.phase = receiving
	return a
}

// page begins a full state with the first page, and commits it with the last.
func (m *machine) page(in input) action {
	a := action{write: true}
	if m.request.token == "" {
		if m.behind(in.version) {
			return m.relist(m.wentBack(m.leave()))
		}
		m.listed = in.version
		m.paged = m.paged || m.request.version == "0" && in.token != ""
		if !m.begun {
			m.begin(&a, in.version != "")
		}
	}
	if in.token == "" {
		return m.commit(a, m.listed)
	}
	// Neither etcd nor the watch cache take a version beside a token.
	return m.list(a, request{token: in.token, limit: m.request.limit})
}

func (m *machine) opened(slow bool) action {
	a := action{op: doRead}
	m.open = true
	m.suspect = m.suspect || m.reopened && slow
	if m.phase == streaming {
		m.begin(&a, true)
	}
	return a
}

// committed makes the full state the known one. A stream goes on as the
// watch; after a list, the watch is still to be opened.
func (m *machine) committed() action {
	m.version, m.begun, m.stale, m.fresh, m.suspect, m.cut = m.request.version, false, false, false, false, false
	if !m.open {
		return m.watch(action{})
	}
	m.phase, m.settled = watching, true
	return action{op: doRead}
}

// closed follows the end of a stream or watch that was not an error. A watch
// is reopened where it ended, and at once: but one that brought nothing within
// its second has failed, and a second one in a row that ended within its
// second waits, so that no server can make this a hot loop.
func (m *machine) closed(short bool) action {
	if m.phase == streaming {
		return m.refuse(m.fail())
	}
	if short && !m.brought {
		return m.wait(m.fail())
	}
	again := m.hasty
	m.hasty = short
	if short && again {
		return m.waitToWatch(m.leave(), 1)
	}
	a := m.watch(m.leave())
	m.reopened = true
	return a
}

func (m *machine) silent() action {
	if m.suspect {
		m.suspect, m.stale = false, true
		return m.relist(m.leave())
	}
	a := m.fail()
	if m.phase == streaming {
		return m.refuse(a)
	}
	// It may have been half-open, and the server set back behind it. But fakes,
	// which neither stream nor send bookmarks, are silent by nature.
	m.suspect = m.versioned() && (m.streams || m.bookmarked)
	return m.watch(a)
}

// failed answers the failure of a request, or an error event.
func (m *machine) failed(c class) action {
	a := m.fail()
	unavailable := c == classExpired || c == classTooLarge
	switch {
	case m.phase == receiving:
		m.cut = true
		return m.wait(a)
	case m.phase == listing && m.request.token != "" && m.request.limit != 0 && c == classExpired:
		// The token expired, not the version: one list without pages (B48).
		return m.list(a, request{version: m.origin})
	case m.phase != watching && unavailable && m.request.version != "":
		m.stale = true
		if m.phase == streaming {
			return m.stream(a)
		}
		return m.listAll(a)
	case m.phase == listing && c == classInvalid && m.versioned():
		m.stale = true
		return m.listAll(a)
	case m.phase == streaming && (c == classOther || c == classInvalid):
		return m.refuse(a)
	case m.phase == watching && c == classBusy:
		m.waits++
		return m.waitToWatch(a, m.waits)
	case m.phase == watching && c == classExpired:
		return m.relistSoon(a)
	default:
		return m.wait(a)
	}
}

// versioned says that the request asks for a version that a server has told:
// it may have been a lie, or another kind of server's.
func (m *machine) versioned() bool { return m.request.version != "" && m.request.version != "0" }

func (m *machine) stop() action {
	a := m.leave()
	a.op, m.phase = doStop, stopped
	return a
}

// leave hangs up what is open and drops the full state that was begun.
func (m *machine) leave() action {
	a := action{stop: m.open, abort: m.begun}
	m.open, m.begun = false, false
	return a
}

// fail is leave after a failure.
func (m *machine) fail() action {
	a := m.leave()
	a.failed = true
	m.failures++
	return a
}

// refuse gives up streams for the time being: a list follows in the same cycle.
func (m *machine) refuse(a action) action {
	m.refused, a.refused = true, true
	return m.listAll(a)
}

// wentBack distrusts every version known so far.
func (m *machine) wentBack(a action) action {
	m.fresh, m.stale, a.wentBack = true, true, true
	return a
}

// relistSoon asks for a full state: at once the first time since the last
// healthy time, after a back-off from then on (D9).
func (m *machine) relistSoon(a action) action {
	if m.spent {
		return m.wait(a)
	}
	m.spent = true
	return m.relist(a)
}

// relist asks for a full state, as a stream where that is possible. A new
// history is listed, so that nothing of it depends on what is in caches.
func (m *machine) relist(a action) action {
	if m.streams && !m.refused && !m.fresh {
		return m.stream(a)
	}
	return m.listAll(a)
}

func (m *machine) stream(a action) action {
	m.phase, m.request, m.brought = streaming, request{version: m.version}, false
	m.reopened = false
	if m.stale {
		m.request.version = ""
	}
	a.op, a.request = doStream, m.request
	return a
}

// listAll asks for the first page of a list. "" makes the server read etcd,
// which is asked for pages; any other version is served from its watch cache,
// but only without a limit, which "0" alone may carry (B44).
func (m *machine) listAll(a action) action {
	r := request{version: m.version, limit: m.pageSize}
	switch {
	case m.stale, m.cut: // a server pages what it reads from etcd
		r.version = ""
	case r.version == "":
		r.version = "0"
	}
	if r.limit == 0 && (m.paged || r.version == "" || r.version == "0") {
		r.limit = defaultPageSize
	}
	m.origin = r.version
	return m.list(a, r)
}

func (m *machine) list(a action, r request) action {
	m.phase, m.request = listing, r
	a.op, a.request = doList, r
	return a
}

func (m *machine) begin(a *action, versioned bool) {
	m.begun, a.begin = true, true
	if m.fresh || !versioned {
		a.history = NewHistory
	}
}

func (m *machine) commit(a action, version string) action {
	m.phase, m.request = committing, request{version: version}
	a.op, a.request = doCommit, m.request
	return a
}

func (m *machine) watch(a action) action {
	m.phase, m.request, m.reopened = watching, request{version: m.version}, false
	m.brought, m.settled = false, m.version != "" && m.version != "0"
	a.op, a.request = doWatch, m.request
	return a
}

// wait backs off, then asks for a full state.
func (m *machine) wait(a action) action {
	m.waits++
	m.phase, m.rewatch = waiting, false
	a.op, a.attempt = doWait, m.waits
	return a
}

// waitToWatch backs off, then reopens the watch.
func (m *machine) waitToWatch(a action, attempt int) action {
	m.phase, m.rewatch = waiting, true
	a.op, a.attempt = doWait, attempt
	return a
}

// behind says that a state at version proves that the history went back.
func (m *machine) behind(version string) bool { return !m.fresh && object.Older(version, m.version) }

// check panics where an invariant does not hold.
func (m *machine) check() {
	open := m.phase == streaming || m.phase == committing || m.phase == watching
	begun := m.phase == committing || m.phase == receiving ||
		m.phase == streaming && m.open ||
		m.phase == listing && m.request.token != ""
	verify.That(!m.open || open, "something is open in phase %d", m.phase)
	verify.That(m.begun == begun, "begun is %v in phase %d", m.begun, m.phase)
	verify.That(!m.fresh || m.stale, "the history is new, and the version of the old one served")
	verify.That(!m.stale || m.phase != watching, "watching from a version that is not served")
}
