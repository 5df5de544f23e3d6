package reflector

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// maxBatch is the most changes that are written at once.
const maxBatch = 1000

// loop is the shell of the machine: it does what the machine says and tells it
// what came of it. It belongs to the goroutine of Run.
//
// A call of the sink may end that goroutine (runtime.Goexit), and listAndWatch is
// called again on another one then. So all that it needs to go on stands here, and
// the action tells what is still to be done.
type loop struct {
	*Reflector
	ctx       context.Context
	machine   machine
	times     times
	action    action // what the machine has said, but for what of it was done
	calling   sinkCall
	streaming Streaming
	decoder   decoder

	wired    wired                 // the source, if its bytes are read here; else nil
	kind     *kindDecoder          // with wired
	incoming *incoming             // a page that is being read
	learning chan outcome[learned] // what the source says of itself; nil before it was asked
	presence presence              // of the source's resource

	operation Operation         // the last request
	page      page              // fetched and not yet written
	pager     pager             // of the list that is under way
	conn      *watchConn        // nil unless a stream or watch is open
	ahead     *ahead            // nil unless a watch was asked for before its list is committed
	recall    *recall           // nil unless a stream is open that may leave out objects
	batch     []deltafifo.Delta // empty but while it is filled or written
	tally     tally             // of a batch of changes that is written
	objects   int               // in the full state that is under way
	bytes     int64             // encoded, of these, as far as they are read here
	cause     Cause             // of the full state that is under way, or that was asked for last
}

// sinkCall says which call of the sink has not come back. One that never does has
// ended its goroutine.
type sinkCall uint8

const (
	noCall    sinkCall = iota
	otherCall          // Begin, Commit or Abort
	writeCall          // Write, or Resume
)

// listAndWatch does what the machine says until it says stop.
func (l *loop) listAndWatch() {
	if l.calling == otherCall {
		l.calling = noCall
		l.sinkFailed(sinkError(indexer.ErrGoexit))
	}
	for {
		err := l.perform()
		switch {
		case err != nil:
			l.sinkFailed(err)
		case l.action.op == doStop:
			l.setFollowed(l.action.followed)
			return
		default:
			l.step(l.outcome())
		}
	}
}

// outcome does the operation of the action, and returns what came of it.
func (l *loop) outcome() (in input, err error) {
	if l.ctx.Err() == nil {
		in, err = l.do(l.action)
	}
	if ended := l.ctx.Err() != nil; ended && (in.kind == 0 || in.kind >= inClosed) {
		return input{kind: inStop}, nil
	}
	return in, err
}

func (l *loop) sinkFailed(err error) {
	if l.ctx.Err() != nil {
		l.step(input{kind: inStop}, nil)
	} else {
		l.step(input{kind: inSinkFailed}, err)
	}
}

// step tells the machine what happened, for its next action. Err is what is
// wrong, should the machine find that in is a failure.
func (l *loop) step(in input, err error) {
	l.times.retryAfter = 0
	if err != nil {
		in.class, l.times.retryAfter = classify(err), retryAfter(err)
		if l.isMissing(in, err) {
			in.class, err = classMissing, fmt.Errorf("%w: %w", ErrNotServed, err)
		}
	}
	before := l.machine.phase
	a := l.machine.step(l.times.facts(in))
	if verify.On {
		l.machine.check()
	}
	l.setVersion(l.machine.version)
	l.action = a
	l.noteCause(before, in, a)
	l.report(in, a, err)
	if a.close {
		l.closeConn(reasonOf(in, a, err))
	}
	l.times.note(in, a, l.machine.phase)
	l.presence.note(in, l.machine.phase)
	if in.kind == inCommitted {
		l.endFullState()
	}
	l.reportRequest(a)
}

// endFullState lets go of what a full state took. A stream goes on as a watch.
func (l *loop) endFullState() {
	l.batch = nil
	if l.conn != nil {
		l.operation = OpWatch
		l.conn.becomeWatch()
	}
}

// do does the operation of a and returns what came of it.
func (l *loop) do(a action) (input, error) {
	if a.op == doReceive {
		return l.receive()
	}
	l.closePage()
	if a.op != doWatch {
		l.closeAhead()
	}
	switch a.op {
	case doLearn:
		l.operation = OpList
		return l.learn()
	case doList:
		l.operation = OpList
		return l.openList(a.request)
	case doStream:
		l.operation = OpStream
		return l.openStream(a.request.version)
	case doWatch:
		l.operation = OpWatch
		return l.openWatch(a.request.version)
	case doRead:
		return l.read()
	case doCommit:
		l.tell(Committing{Operation: l.operation, Objects: l.objects})
		if l.machine.phase == committingList && l.streaming != StreamingSupported {
			l.openAhead(a.request.version)
		}
		if err := l.callSink(func() error { return l.sink.Commit(l.ctx, a.request.version) }); err != nil {
			return input{kind: inSinkFailed}, err
		}
		return input{kind: inCommitted}, nil
	case doAwait:
		return l.await()
	default:
		return l.wait(a.attempt), nil
	}
}

func (l *loop) wait(step int) input {
	delay := l.delay(step)
	l.tell(BackedOff{Attempt: step, Delay: delay})
	over, end := l.after(delay)
	defer end()
	select {
	case <-over:
		return input{kind: inWaited}
	case <-l.ctx.Done():
		return input{kind: inStop}
	}
}

// perform does what is left of the action but for its operation. An error is the
// sink's.
func (l *loop) perform() error {
	a := &l.action
	if a.abort {
		a.abort = false
		if err := l.callSink(func() error { return l.sink.Abort(l.ctx) }); err != nil {
			l.reportFailure(err)
		}
	}
	if a.begin {
		a.begin = false
		l.objects, l.bytes, l.times.paged = 0, 0, time.Now()
		if err := l.callSink(func() error { return l.sink.Begin(l.ctx, a.history) }); err != nil {
			return err
		}
	}
	if a.write {
		if err := l.writePage(); err != nil {
			return err
		}
		a.write = false
	}
	l.page = page{} // written, or not wanted
	if a.bookmark != "" {
		if err := l.writeBookmark(a.bookmark); err != nil {
			return err
		}
		a.bookmark = ""
	}
	if a.caughtUp {
		if err := l.writeBookmark(""); err != nil {
			return err
		}
		a.caughtUp = false
	}
	return nil
}

func (l *loop) writeBookmark(version string) error {
	if l.calling == noCall {
		l.batch = append(l.batch, deltafifo.Delta{Op: deltafifo.Bookmark, Version: version})
	}
	return l.flush()
}

// callSink makes a call of the sink, but for those that write.
func (l *loop) callSink(do func() error) error {
	l.calling = otherCall
	err := do()
	l.calling = noCall
	if err != nil {
		return sinkError(err)
	}
	return nil
}

// addDelta returns a new delta at the end of the batch: to fill it in where it is
// avoids a copy, which would be a good part of what an event costs to read.
func (l *loop) addDelta() *deltafifo.Delta {
	l.batch = append(l.batch, deltafifo.Delta{})
	return &l.batch[len(l.batch)-1]
}

// dropDelta takes back what addDelta has added last.
func (l *loop) dropDelta() {
	last := len(l.batch) - 1
	l.batch[last] = deltafifo.Delta{}
	l.batch = l.batch[:last]
}

// clearBatch empties the batch: what is in it was written, or is not wanted.
func (l *loop) clearBatch() {
	clear(l.batch)
	l.batch = l.batch[:0]
}

// flush writes the batch to the sink and empties it.
func (l *loop) flush() error {
	if len(l.batch) == 0 {
		return nil
	}
	err := l.write()
	l.calling = noCall
	l.clearBatch()
	if err != nil {
		return sinkError(err)
	}
	return nil
}

// write hands the batch to the sink. Where that has ended the goroutine before, the
// sink goes on, if it can.
func (l *loop) write() error {
	if l.calling != writeCall {
		l.calling = writeCall
		return l.sink.Write(l.ctx, l.batch)
	}
	if sink, ok := l.sink.(Resumer); ok {
		return sink.Resume(l.ctx)
	}
	return indexer.ErrGoexit
}

func sinkError(err error) error { return fmt.Errorf("%w: %w", ErrSink, err) }

// closeConn ends the stream or watch, if one is open.
func (l *loop) closeConn(reason string) {
	if w := l.conn; w != nil {
		l.conn = nil
		w.close()
		l.reportWatchEnd(w.count, reason)
	}
}
