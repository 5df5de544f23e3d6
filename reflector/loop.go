package reflector

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// maxBatch is the most changes that are written at once.
	maxBatch = 1000
	// healthyAfter is how long nothing must fail until back-off starts anew.
	healthyAfter = 2 * time.Minute
	// streamRetry is how long a refused stream is not tried again.
	streamRetry = 10 * time.Minute
)

// loop is the shell of the machine: it does what the machine says and tells it
// what came of it. It belongs to the goroutine of Run.
//
// A call of the sink may end that goroutine (runtime.Goexit), and run is called
// again on another one then. So all that it needs to go on stands here, and the
// action tells what is still to be done.
type loop struct {
	*Reflector
	ctx       context.Context
	machine   machine
	action    action // what the machine has said, but for what of it was done
	calling   sinkCall
	streaming Streaming
	decoder   decoder

	wired    wired        // the source, if its bytes are read here; else nil
	kind     *kindDecoder // with wired
	incoming *incoming    // a page that is being read

	page    page              // fetched and not yet written
	pager   pager             // of the list that is under way
	conn    *conn             // nil unless a stream or watch is open
	recall  *recall           // nil unless a stream is open that may leave out objects
	batch   []deltafifo.Delta // empty but while it is filled or written
	tally   tally             // of a batch of changes that is written
	objects int               // in the full state that is under way
	paged   time.Time         // when the last Paged of a stream was told

	asked   Operation     // the last request
	began   time.Time     // when the full state was first asked for; zero between two
	watched time.Time     // when the watch began; zero if there is none
	healthy time.Time     // since when watches go on without a failure; zero after one
	refused time.Time     // when a stream was refused last; zero if never
	told    bool          // a full state had a version
	busy    time.Duration // how long a server with too many requests wants to be left alone
}

// sinkCall says which call of the sink has not come back. One that never does has
// ended its goroutine.
type sinkCall uint8

const (
	noCall    sinkCall = iota
	otherCall          // Begin, Commit or Abort
	writeCall          // Write, or Resume
)

// run does what the machine says until it says stop.
func (l *loop) run() {
	if l.calling == otherCall {
		l.calling = noCall
		l.sinkFailed(sinkError(indexer.ErrGoexit))
	}
	for {
		err := l.settle()
		switch {
		case err != nil:
			l.sinkFailed(err)
		case l.action.op == doStop:
			return
		default:
			l.step(l.perform())
		}
	}
}

// perform does the operation of the action, and returns what came of it.
func (l *loop) perform() (in input, err error) {
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
	l.busy = 0
	if err != nil {
		in.class, l.busy = classify(err), retryAfter(err)
	}
	a := l.machine.step(l.facts(in))
	if verify.On {
		l.machine.check()
	}
	l.setVersion(l.machine.version)
	l.action = a
	l.report(in, a, err)
	if a.stop {
		l.hangUp(reason(in, a, err))
	}
}

// facts adds the facts about time to in. They matter to what ends or begins
// something, not to every batch.
func (l *loop) facts(in input) input {
	if in.kind != inEvents {
		in.healthy = elapsed(l.healthy, healthyAfter)
		in.retryStream = elapsed(l.refused, streamRetry)
	}
	return in
}

func elapsed(since time.Time, d time.Duration) bool {
	return !since.IsZero() && time.Since(since) >= d
}

// do does the operation of a and returns what came of it.
func (l *loop) do(a action) (input, error) {
	if a.op == doReceive {
		return l.receive()
	}
	l.letGo()
	switch a.op {
	case doList:
		l.ask(OpList)
		return l.openList(a.request)
	case doStream:
		l.ask(OpStream)
		return l.openStream(a.request.version)
	case doWatch:
		l.ask(OpWatch)
		return l.openWatch(a.request.version)
	case doRead:
		return l.read()
	case doCommit:
		if err := l.askSink(func() error { return l.sink.Commit(l.ctx, a.request.version) }); err != nil {
			return input{kind: inSinkFailed}, err
		}
		l.told = l.told || a.request.version != ""
		return input{kind: inCommitted}, nil
	default:
		return l.wait(a.attempt), nil
	}
}

func (l *loop) ask(o Operation) {
	l.asked = o
	if o != OpWatch && l.began.IsZero() {
		l.began = time.Now()
	}
}

func (l *loop) wait(step int) input {
	delay := max(backoff(step, l.random()), l.busy)
	l.began = time.Time{}
	l.tell(BackedOff{Attempt: step, Delay: delay})
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return input{kind: inWaited}
	case <-l.ctx.Done():
		return input{kind: inStop}
	}
}

// settle does what is left of the action but for its operation. An error is the
// sink's.
func (l *loop) settle() error {
	a := &l.action
	if a.abort {
		a.abort = false
		if err := l.askSink(func() error { return l.sink.Abort(l.ctx) }); err != nil {
			l.fail(err)
		}
	}
	if a.begin {
		a.begin = false
		l.objects, l.paged = 0, time.Now()
		if err := l.askSink(func() error { return l.sink.Begin(l.ctx, a.history) }); err != nil {
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
	return nil
}

func (l *loop) writeBookmark(version string) error {
	if l.calling == noCall {
		l.batch = append(l.batch, deltafifo.Delta{Op: deltafifo.Bookmark, Version: version})
	}
	return l.flush()
}

// askSink makes a call of the sink, but for those that write.
func (l *loop) askSink(do func() error) error {
	l.calling = otherCall
	err := do()
	l.calling = noCall
	if err != nil {
		return sinkError(err)
	}
	return nil
}

// grow adds a delta to the batch, to be filled in where it is: to copy one would
// be a good part of what an event costs to read.
func (l *loop) grow() *deltafifo.Delta {
	l.batch = append(l.batch, deltafifo.Delta{})
	return &l.batch[len(l.batch)-1]
}

// shrink takes back what grow has added last.
func (l *loop) shrink() {
	last := len(l.batch) - 1
	l.batch[last] = deltafifo.Delta{}
	l.batch = l.batch[:last]
}

// forget empties the batch: what is in it was written, or is not wanted.
func (l *loop) forget() {
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
	l.forget()
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

// hangUp ends the stream or watch, if one is open.
func (l *loop) hangUp(reason string) {
	w := l.conn
	if w == nil {
		return
	}
	l.conn = nil
	w.hangUp()
	if l.watched.IsZero() {
		return
	}
	l.tell(WatchEnded{Version: l.machine.version, Events: w.count, Took: time.Since(l.watched), Reason: reason})
	l.watched = time.Time{}
}

// reason says to people why a watch ended.
func reason(in input, a action, err error) string {
	switch {
	case in.kind == inStop:
		return "stopped"
	case a.wentBack:
		return "the server's history went back"
	case a.failed:
		return shortText(err)
	case in.kind == inSilent:
		return "silent after an outage"
	default:
		return "closed by the server"
	}
}
