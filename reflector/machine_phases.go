package reflector

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

// unavailable reports whether the server does not have the requested version.
func (in input) unavailable() bool { return in.class == classExpired || in.class == classTooLarge }
