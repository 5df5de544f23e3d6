package reflector

// defaultPageSize is the page size of lists that may be read from etcd.
const defaultPageSize = 500

// maxPageRepeats is how often the same page is requested again from a busy server before the list
// starts over.
const maxPageRepeats = 10

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
	switch {
	case m.version != "":
		m.history.versions = versionsKnown
	case m.history.versions == versionsUnseen:
		m.history.versions, a.historyUnknown = versionsAbsent, true
	}
	return a
}

// refuseStream disables streams after a stream that failed at once. It reports no error: a list
// follows, which succeeds or reports its own error (D10: an error is reported once).
func (m *machine) refuseStream() action { return m.disableStreams(action{}) }

// disableStreams disables streams for streamsDisabledFor. A list follows at once.
func (m *machine) disableStreams(a action) action {
	m.server.streamsDisabled, a.streamsDisabled = true, true
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
	if m.streamSupport != StreamingUnsupported && !m.server.streamsDisabled && !m.server.missing && m.history.state != rolledBack {
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

func (m *machine) commit(a action, p phase, version string) action {
	return m.ask(a, p, doCommit, request{version: version})
}
