package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/features"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// maxBatch is the largest number of changes written to the sink at once.
const maxBatch = 1000

// loop performs the machine's actions and returns the results to it. Run's goroutine owns the loop.
type loop struct {
	*Reflector
	ctx        context.Context
	machine    machine
	times      times
	pace       pace
	action     action // the machine's last action
	exited     error  // set if a function of the source has ended its goroutine
	deltaMaker deltaMaker

	ask        wire.Send     // sends the requests: the source's Send, or its List and Watch
	decoder    *wire.Decoder // nil if the client decodes
	subscriber *subscriber   // gets the answers to the program's writes; set with decoder, if the sink keeps the objects
	incoming   *incoming     // a page that is being read

	clientDecoded bool // was reported

	operation Operation         // the last request
	page      page              // fetched, not written yet
	pager     pager             // of the present list
	selector  string            // of the last request, and of all pages of its list
	foreign   uint64            // objects dropped before the last request
	conn      *watchConn        // nil unless a stream or watch is open
	ahead     *ahead            // nil unless a watch was requested before the commit of its list
	batch     []deltafifo.Delta // empty, except while it is filled or written
	objects   int               // in the present full state
	bytes     int64             // encoded size of these objects, if they are decoded here
	cause     Cause             // of the present full state, or of the last one requested
}

// newLoop returns the loop of a reflector, with the machine's first action.
func newLoop(ctx context.Context, r *Reflector) *loop {
	l := &loop{Reflector: r, ctx: ctx, deltaMaker: newDeltaMaker(r.o), ask: r.source.ask, cause: CauseStart}
	l.readHere()
	l.machine.pageSize, l.machine.version, l.machine.streamSupport = r.o.PageSize, r.o.Version, r.source.Streams
	if r.o.Version != "" {
		l.machine.history.versions = versionsKnown
	}
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		l.machine.streamSupport = StreamingUnsupported
	}
	l.action = l.machine.start()
	return l
}

// listAndWatch performs the machine's actions until the machine stops. A function of the source
// that ends its goroutine stops the machine too, and listAndWatch returns an error.
func (l *loop) listAndWatch() error {
	l.setVersion(l.machine.version)
	l.times.note(input{}, l.action, l.machine.phase)
	for {
		err := l.perform()
		switch {
		case err != nil:
			l.sinkFailed(err)
		case l.action.op == doStop:
			return l.exited
		default:
			l.step(l.nextInput())
		}
	}
}

// nextInput performs the operation of the action and returns the next input.
func (l *loop) nextInput() (in input, err error) {
	if l.exited == nil && l.ctx.Err() == nil {
		in, err = l.do(l.action)
		l.noteExit(err)
	}
	ended := l.ctx.Err() != nil && (in.kind == 0 || in.kind >= inClosed)
	if ended || l.exited != nil {
		in, err = input{kind: inStop}, nil
	}
	return in, err
}

// noteExit stores the error if a call of the source has ended its goroutine.
func (l *loop) noteExit(err error) {
	if l.exited == nil && errors.Is(err, indexer.ErrExited) {
		l.exited = l.failure(err)
	}
}

func (l *loop) sinkFailed(err error) {
	if l.ctx.Err() != nil {
		l.step(input{kind: inStop}, nil)
	} else {
		l.step(input{kind: inSinkFailed}, err)
	}
}

// step passes an input to the machine and stores the next action. The error explains the input if
// the machine treats it as a failure.
func (l *loop) step(in input, err error) {
	l.times.retryAfter = 0
	if err != nil {
		l.times.retryAfter = retryAfter(err)
		in.class = classify(err)
	}
	before := l.machine.phase
	a := l.machine.step(l.times.facts(in))
	if verify.On {
		l.machine.check()
	}
	l.setVersion(l.machine.version)
	l.action = a
	if a.missing {
		err = fmt.Errorf("%w: %w", ErrNotServed, err)
	}
	if a.rolledBack {
		l.subscriber.historyWentBack()
	}
	l.noteCause(before, in, a)
	l.report(in, a, err)
	if a.close {
		l.closeConn(reasonOf(in, a, err))
	}
	l.times.note(in, a, l.machine.phase)
	if in.kind == inCommitted {
		l.endFullState()
	}
}

// noteCause records the reason for the full state that an input leads to. Repeated requests keep
// the reason until the full state is committed. Only a new history replaces it earlier, because
// that full state may undo everything.
func (l *loop) noteCause(before phase, in input, a action) {
	switch after := l.machine.phase; {
	case a.rolledBack:
		l.cause = CauseHistory
	case !after.fillsStore() || before.fillsStore():
	case in.unavailable():
		l.cause = CauseExpired
	case in.kind == inSilent:
		l.cause = CauseSilence
	default:
		l.cause = CauseFailure
	}
}

// fillsStore reports whether a phase requests a full state, or is about to.
func (p phase) fillsStore() bool {
	switch p {
	case listing, paging, openingStream, streaming, committingList, committingStream, waitingToList, waitingToPage:
		return true
	}
	return false
}

// endFullState releases the memory of a full state. A stream continues as a watch.
func (l *loop) endFullState() {
	l.batch = nil
	if l.conn != nil {
		l.operation = OpWatch
		l.conn.becomeWatch()
	}
}

// do performs the operation of an action and returns the next input.
func (l *loop) do(a action) (input, error) {
	if a.op == doReadPage {
		return l.readPage()
	}
	l.closePage()
	if a.op != doWatch {
		l.closeAhead()
	}
	if !l.keepPace(a) {
		return input{kind: inStop}, nil
	}
	l.reportRequest(a)
	switch a.op {
	case doList:
		l.operation = OpList
		return l.asksForShare(a.request, func() (input, error) { return l.openList(a.request) })
	case doStream:
		l.operation = OpStream
		return l.asksForShare(a.request, func() (input, error) { return l.openStream(a.request.version) })
	case doWatch:
		l.operation = OpWatch
		return l.asksForShare(a.request, func() (input, error) { return l.openWatch(a.request) })
	case doRead:
		return l.read()
	case doCommit:
		l.noteFilter() // first, because the watch requested ahead may receive foreign events, and the sink may look at the share's status
		if l.machine.phase == committingList && l.source.Streams != StreamingSupported && l.pace.delay() == 0 {
			l.openAhead(a.request.version)
		}
		if err := l.sink.Commit(l.ctx, a.request.version); err != nil {
			return input{kind: inSinkFailed}, sinkError(err)
		}
		return input{kind: inCommitted}, nil
	default:
		return l.wait(a), nil
	}
}

func (l *loop) wait(a action) input {
	if !l.pause(a.attempt, l.delay(a)) {
		return input{kind: inStop}
	}
	return input{kind: inWaited}
}

// pause waits. It returns false if the context ends first.
func (l *loop) pause(step int, delay time.Duration) bool {
	l.tell(BackedOff{Attempt: step, Delay: delay, Page: l.machine.phase == waitingToPage})
	over, end := l.after(delay)
	defer end()
	select {
	case <-over:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// keepPace waits until the next request is allowed, if the action sends one. It returns false if
// the context ends first. [Options].Backoff replaces the pace.
func (l *loop) keepPace(a action) bool {
	asks := a.op == doList && a.request.token == "" || a.op == doStream || a.op == doWatch && l.ahead == nil
	if !asks || l.o.Backoff != nil {
		return true
	}
	if delay := l.pace.delay(); delay > 0 && !l.pause(max(1, l.machine.failures.waits), delay) {
		return false
	}
	l.pace.count()
	return true
}

// perform performs the parts of the action that precede its operation. It returns the sink's error.
func (l *loop) perform() error {
	a := &l.action
	if a.abort {
		if err := l.sink.Abort(l.ctx); err != nil {
			l.reportFailure(sinkError(err))
		}
	}
	if a.begin {
		l.objects, l.bytes, l.times.paged = 0, 0, time.Now()
		if err := l.sink.Begin(l.ctx, a.history); err != nil {
			return sinkError(err)
		}
	}
	if a.write {
		if err := l.writePage(); err != nil {
			return err
		}
	}
	l.page = page{} // written or not needed
	if a.bookmark != "" {
		if err := l.writeBookmark(a.bookmark); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) writeBookmark(version string) error {
	l.batch = append(l.batch, deltafifo.Delta{Op: deltafifo.Bookmark, Version: version})
	return l.flush()
}

// closeConn ends the stream or watch, if one is open.
func (l *loop) closeConn(reason string) {
	if w := l.conn; w != nil {
		l.conn = nil
		l.noteExit(w.close())
		if elapsed(w.requestedAt, shortWatch) {
			l.pace.lasted()
		}
		l.reportWatchEnd(w.count, reason)
	}
}
