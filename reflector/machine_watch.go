package reflector

import "github.com/tidemark-k8s/tidemark/internal/object"

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
	m.server.missing, m.server.streamsDisabled = true, false
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

func (m *machine) openWatch(a action) action {
	m.watch = watchFacts{proof: m.watch.proof}
	return m.ask(a, openingWatch, doWatch, request{version: m.version})
}
