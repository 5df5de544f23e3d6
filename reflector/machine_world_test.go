package reflector

import "github.com/tidemark-k8s/tidemark/internal/object"

// maxRequests is the number of requests that may follow each other without a back-off, a healthy
// time or a watch of a second. TestMachineInEveryState reaches it with every immediate retry that
// the contract allows, between two relists that both fail at the last moment. The point is that it
// is finite.
const maxRequests = 16

// world surrounds a machine. It derives from the actions alone what is open and what was begun, and
// checks each action.
type world struct {
	machine     machine
	action      action
	open        bool
	begun       bool
	history     History // of the full state that was begun
	hasVersions bool    // a full state had a version
	unversioned bool    // a full state had no version, which was reported
	repeats     int     // of the present page
	rolledBack  bool    // the history went back, and no state of the new one was committed
	missing     bool    // a list or a watch was answered with 404, and no full state was committed since
	noStreams   bool    // a stream did not work, less than ten minutes ago
	requests    int
}

// newWorld returns a world whose machine has started.
func newWorld(streaming Streaming, pageSize int64) world {
	w := world{machine: machine{streamSupport: streaming, pageSize: pageSize}, requests: 1}
	w.action = w.machine.start()
	return w
}

// step passes an input to the machine, and returns the fault of its action, or "".
func (w *world) step(in input) (wrong string) {
	before := w.machine
	w.machine.check()
	switch in.kind {
	case inOpened:
		w.open = true
	case inCommitted:
		w.begun, w.rolledBack, w.missing = false, false, false
		w.hasVersions = w.hasVersions || w.action.request.version != ""
	}
	w.action = w.machine.step(in)
	w.machine.check()
	for _, judge := range []func(machine, input) string{w.effects, w.answers, w.absence, w.streams, w.pages, w.operation, w.pace} {
		if wrong := judge(before, in); wrong != "" {
			return wrong
		}
	}
	if object.Older(w.machine.version, before.version) && (in.kind != inCommitted || w.history != NewHistory) {
		return "the version went back within one history"
	}
	return ""
}

// effects checks the calls of the sink, and the closing of watches.
func (w *world) effects(_ machine, in input) string {
	a := w.action
	switch {
	case a.close && !w.open:
		return "closes what is not open"
	case a.abort && !w.begun:
		return "aborts what was not begun"
	case a.failed && (w.open != a.close || w.begun != (a.abort || w.machine.phase == waitingToPage)):
		return "a failure left something behind"
	case in.kind == inClosed && !a.close:
		return "a watch that ended was not closed"
	}
	w.open = w.open && !a.close
	w.begun = w.begun && !a.abort
	if a.begin {
		if w.begun {
			return "begins twice"
		}
		w.begun, w.history = true, a.history
	}
	switch {
	case w.open != w.machine.phase.connected() || w.begun != w.machine.phase.replacing():
		return "the phase does not say what is open, or begun"
	case a.write && !w.begun:
		return "writes a page that belongs to nothing"
	case a.bookmark != "" && (w.begun || !w.open):
		return "a bookmark at the wrong time"
	case a.streamsDisabled && a.op != doList:
		return "streams are given up and no list follows"
	}
	return ""
}

// answers checks how the machine uses versions.
func (w *world) answers(before machine, in input) string {
	a := w.action
	w.rolledBack = w.rolledBack || a.rolledBack
	defer func() { w.unversioned = w.unversioned || a.historyUnknown }()
	unversioned := in.kind == inPage && in.version == ""
	switch {
	case unversioned && before.request.token == "" && w.hasVersions && (!a.failed || a.write):
		return "a list without a version was taken for the server's"
	case unversioned && !w.hasVersions && before.request.token == "" && a.failed:
		return "a list without a version was refused, where there had been none"
	case before.phase == streaming && in.kind == inBookmark && in.version == "" && (a.op == doCommit) != (in.end && !w.hasVersions):
		return "a stream without a version was taken for the server's, or refused where there had been none"
	case a.begin && (a.history == NewHistory) != (w.rolledBack || unversioned || in.kind == inItems && (before.version == "" || w.unversioned && !w.hasVersions) || in.kind == inOpened && w.unversioned && !w.hasVersions):
		return "begins the wrong history"
	case a.historyUnknown && (w.unversioned || w.hasVersions || in.kind != inCommitted):
		return "reports an unknown history at the wrong time"
	case a.op == doStream && w.rolledBack:
		return "streams a new history"
	case (a.op == doList && a.request.token == "" && w.begun == false || a.op == doStream) && w.rolledBack && a.request.version != "":
		return "asks a new history for a version of the old one"
	case a.op == doWatch && a.request.version != w.machine.version:
		return "watches from another version than the one that the sink knows"
	case a.request.brief != (in.kind == inAsked && !before.request.brief && (before.streamSupport == StreamingSupported || before.server.bookmarks)):
		return "a watch is brief without a request, or a requested brief watch is not"
	case w.machine.request.brief && w.machine.phase == watching && in.kind == inBookmark:
		return "still waits for a bookmark that has come"
	}
	return ""
}

// absence checks that after a 404 lists alone are requested, from etcd, until one is committed.
func (w *world) absence(before machine, in input) string {
	a := w.action
	is404 := notFound(before, in)
	w.missing = w.missing || is404
	switch {
	case a.missing != is404 || is404 && (a.op != doWait || !a.failed):
		return "a 404 is not waited out, or something else is"
	case w.missing && (a.op == doStream || a.op == doWatch):
		return "asks for more than a list of a resource that is missing"
	case w.missing && a.op == doList && a.request.version != "":
		return "asks a cache for a resource that was missing"
	case !w.missing && w.machine.server.missing:
		return "a resource counts as missing after it was listed"
	}
	return ""
}

// notFound reports whether a list or watch was answered with 404.
func notFound(before machine, in input) bool {
	ofStream := before.phase == openingStream || before.phase == streaming
	return in.kind == inFailed && in.class == classMissing && !ofStream
}

// streams checks that no stream follows for ten minutes after one that did not work, unless a list or watch was
// answered with 404 since.
func (w *world) streams(before machine, in input) string {
	w.noStreams = w.action.streamsDisabled || w.noStreams && !in.enableStreams && !notFound(before, in)
	switch {
	case w.noStreams && w.action.op == doStream:
		return "streams too soon"
	case w.noStreams != w.machine.server.streamsDisabled:
		return "streams are disabled or enabled for no reason"
	}
	return ""
}

// pages checks that a busy server is asked for the same page again, at most ten times.
func (w *world) pages(before machine, in input) string {
	a := w.action
	switch {
	case w.machine.phase == waitingToPage && (a.op != doWait || in.kind != inFailed || in.class != classBusy && in.class != classUnavailable || before.request.token == ""):
		return "waits to repeat a page, but the server was not busy"
	case w.machine.phase == waitingToPage:
		w.repeats++
	case before.phase == waitingToPage && in.kind == inWaited && (a.op != doList || a.request != before.request):
		return "another page than the one that failed is requested"
	case before.phase != waitingToPage:
		w.repeats = 0
	}
	if w.repeats > 10 {
		return "a page is requested again and again"
	}
	return ""
}

// operation checks the operation of the action.
func (w *world) operation(machine, input) string {
	a := w.action
	switch a.op {
	case doList:
		if w.open || w.begun != (a.request.token != "") || a.request.token != "" && a.request.version != "" {
			return "lists at the wrong time or place"
		}
	case doReadPage:
		if w.open || !w.begun || !a.write {
			return "reads more of a page without writing any of it"
		}
	case doStream, doWatch:
		if w.open || w.begun {
			return "opens a second time, or while something is begun"
		}
		if a.op == doStream && w.machine.streamSupport == StreamingUnsupported {
			return "streams from a source that cannot"
		}
	case doRead:
		if !w.open {
			return "reads what is not open"
		}
	case doCommit:
		if !w.begun {
			return "commits what was not begun"
		}
	case doWait, doStop:
		if w.open || w.begun != (w.machine.phase == waitingToPage) || (a.op == doWait) != (a.attempt > 0) {
			return "waits or stops with something open or begun"
		}
	default:
		return "no operation"
	}
	return ""
}

// pace checks the number of requests without a pause.
func (w *world) pace(_ machine, in input) string {
	slow := in.healthy || in.kind == inAsked || in.kind == inSilent || in.kind == inClosed && !in.short
	if w.action.op == doWait || slow {
		w.requests = 0
	}
	switch w.action.op {
	case doStream, doWatch:
		w.requests++
	case doList:
		if w.action.request.token == "" { // another page is progress
			w.requests++
		}
	}
	if w.requests > maxRequests {
		return "a hot loop"
	}
	return ""
}

var classes = []class{classOther, classExpired, classTooLarge, classBusy, classUnavailable, classInvalid, classMissing}

// inputs returns all possible results of the action. A list has one of the versions.
func (w *world) inputs(versions ...string) []input {
	all := []input{{kind: inStop}}
	if w.action.begin || w.action.write || w.action.abort || w.action.bookmark != "" {
		all = append(all, input{kind: inSinkFailed})
	}
	switch w.action.op {
	case doList, doStream, doWatch, doRead:
		for _, c := range classes {
			all = append(all, input{kind: inFailed, class: c})
		}
	}
	switch w.action.op {
	case doList, doReadPage:
		all = append(all, input{kind: inItems})
		for _, version := range versions {
			all = append(all, input{kind: inPage, version: version}, input{kind: inPage, version: version, token: "more"})
		}
	case doStream, doWatch:
		all = append(all, input{kind: inOpened}, input{kind: inOpened, slow: true}, input{kind: inSilent})
	case doCommit:
		all = append(all, input{kind: inCommitted}, input{kind: inSinkFailed})
	case doWait:
		all = append(all, input{kind: inWaited}, input{kind: inWaited, enableStreams: true})
	case doRead:
		all = append(all,
			input{kind: inEvents}, input{kind: inEvents, version: "5"}, input{kind: inEvents, version: "8"},
			input{kind: inBookmark, version: "3"}, input{kind: inBookmark, version: "9"}, input{kind: inBookmark, version: "4", end: true}, input{kind: inBookmark, version: "9", end: true}, input{kind: inBookmark, end: true},
			input{kind: inClosed, short: true}, input{kind: inClosed, healthy: true}, input{kind: inSilent},
			input{kind: inFailed, class: classExpired, healthy: true}, input{kind: inSinkFailed})
	}
	if w.action.op == doRead && w.machine.phase == watching {
		all = append(all, input{kind: inAsked})
	}
	if w.action.op == doReadPage {
		all = append(all, input{kind: inBroken})
	}
	return all
}

// inWatch returns w with a watch open.
func inWatch(w world) world {
	state := []input{{kind: inPage, version: "7"}, {kind: inCommitted}, {kind: inOpened}}
	if w.machine.streamSupport != StreamingUnsupported {
		state = []input{{kind: inOpened}, {kind: inBookmark, version: "7", end: true}, {kind: inCommitted}}
	}
	for _, in := range state {
		w.step(in)
	}
	return w
}

// forget clears counters, and the parts of the action that no input depends on. Of the repetitions of a page it
// leaves out those between the first and the last but one, which are alike.
func (w *world) forget() {
	for _, n := range []*int{&w.repeats, &w.machine.failures.pageRepeats} {
		if *n > 0 && *n < maxPageRepeats-1 {
			*n = maxPageRepeats - 1
		}
	}
	w.machine.failures.count, w.machine.failures.waits, w.machine.failures.missing = 0, 0, 0
	a := w.action
	w.action = action{op: a.op, request: a.request, write: a.begin || a.write || a.abort || a.bookmark != ""}
}
