package reflector

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// openWatch requests the changes since a version, unless openAhead has done that already.
func (l *loop) openWatch(r request) (input, error) {
	if l.ahead == nil {
		return l.opened(l.newConn(watchOptions(r.version), l.timeout(r.brief)).open())
	}
	p := l.ahead
	l.ahead = nil
	<-p.done
	return l.opened(p.conn, p.in, p.err)
}

func watchOptions(version string) metav1.ListOptions {
	return metav1.ListOptions{ResourceVersion: version}
}

// openStream requests the full state, not older than version, and the changes after it.
func (l *loop) openStream(version string) (input, error) {
	initial := true
	w := l.newConn(metav1.ListOptions{
		ResourceVersion:      version,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents:    &initial,
	}, l.timeout(false))
	return l.opened(w.open())
}

// newConn prepares a stream or watch with the options common to both. It sends no request.
func (l *loop) newConn(o metav1.ListOptions, timeout time.Duration) *watchConn {
	seconds := int64(timeout / time.Second)
	o.AllowWatchBookmarks, o.TimeoutSeconds, o.ShardSelector = true, &seconds, l.selector
	w := &watchConn{requestedAt: time.Now(), lasts: timeout + keeper.WatchPatience, initial: o.SendInitialEvents != nil, unordered: unordered(o)}
	w.patience = l.patience(w)
	w.ctx, w.cancel = context.WithCancelCause(l.ctx)
	w.ask, w.receive = l.asking(o, false), l.receiving(o)
	return w
}

// opened stores a stream or watch if the server has accepted it.
func (l *loop) opened(w *watchConn, in input, err error) (input, error) {
	if in.kind == inOpened {
		l.conn = w
	}
	return in, err
}

// ahead is a watch requested before the commit of the list it follows.
type ahead struct {
	conn *watchConn
	done chan struct{} // closed when conn, in and err are set
	in   input
	err  error
}

// openAhead requests the watch after a list, and waits for it briefly. Fakes keep no history, so a
// deletion between a list and its watch would be lost, and tests continue as soon as the informer
// is synced.
func (l *loop) openAhead(version string) {
	l.pace.count()
	p := &ahead{conn: l.newConn(watchOptions(version), l.timeout(false)), done: make(chan struct{})}
	l.ahead = p
	go func() {
		defer close(p.done)
		_, p.in, p.err = p.conn.open()
	}()
	timer := time.NewTimer(aheadPatience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-l.ctx.Done():
	}
}

// closeAhead ends a watch that was requested ahead but is not needed.
func (l *loop) closeAhead() {
	if p := l.ahead; p != nil {
		l.ahead = nil
		p.conn.cancel(nil)
		<-p.done
		if p.in.kind == inOpened {
			l.noteExit(p.conn.close())
		}
	}
}

// read passes the events that are ready to the sink, at most maxBatch. It waits only for the first
// change. A bookmark or an error ends the batch before it, and is an input of its own. If all
// events of a batch are invalid, the watch fails, and a full state recovers the changes that they
// may have reported.
func (l *loop) read() (input, error) {
	w := l.conn
	if w.initial {
		w.remaining = l.mayLast(w) - time.Since(w.requestedAt)
		if w.remaining < 0 {
			return input{kind: inSilent}, errStreamEnded
		}
	} else {
		w.patience, w.asked = l.patience(w), l.asked
	}
	w.heard = false
	for range maxBatch {
		nothing := len(l.batch) == 0 && !w.heard
		a, ok := l.next(w, nothing)
		op := change(a.Type)
		switch {
		case !ok && nothing:
			return l.endOfWatch()
		case !ok:
			return l.writeChanges()
		case op != 0:
			w.unordered = w.unordered && op == deltafifo.Added
			if l.addChange(op, &a) {
				l.noteChange(op)
			}
		case a.IsProgress():
			w.unordered = w.unordered && a.ID.Version == ""
			l.passedBy(a.ID.Version)
		case len(l.batch) > 0:
			w.unread(a)
			return l.writeChanges()
		default:
			if in, err := l.readBookmarkOrError(a.Event); in.kind != 0 {
				return in, err
			}
		}
	}
	if len(l.batch) == 0 && !w.heard {
		return input{kind: inFailed}, fmt.Errorf("%w: %d events in a row", ErrUnexpected, maxBatch)
	}
	return l.writeChanges()
}

// next returns the next event of the watch, if there is one. It briefly holds back a Progress that
// is alone in its batch, so that many foreign events cost the sink little.
func (l *loop) next(w *watchConn, wait bool) (wire.Received, bool) {
	a, ok := w.next(wait)
	if ok || len(l.batch) != 1 || !l.endsWithProgress() {
		return a, ok
	}
	if hold := progressEvery - time.Since(l.times.progressed); hold > 0 {
		return w.linger(hold)
	}
	return a, false
}

// change returns the operation of an event that reports a change, or 0.
func change(t watch.EventType) deltafifo.Op {
	switch t {
	case watch.Added:
		return deltafifo.Added
	case watch.Modified:
		return deltafifo.Modified
	case watch.Deleted:
		return deltafifo.Deleted
	default:
		return 0
	}
}

// addChange adds a change to the batch, unless its object is foreign or unexpected. It ignores the
// version of a change that it leaves out.
func (l *loop) addChange(op deltafifo.Op, a *wire.Received) (added bool) {
	if l.share != nil && l.drops(a) {
		return false
	}
	if !a.ReadHere { // without events, it may be the empty watch that client-go returns for a broken connection
		l.reportDecoded()
	}
	l.bytes += int64(a.Size)
	d := l.addDelta()
	if err := l.deltaMaker.fromReceived(d, op, a); err != nil {
		l.dropDelta()
		l.reportSkipped(err)
		return false
	}
	if a.Undecodable != nil {
		err := fmt.Errorf("%.*w", object.MaxText, a.Undecodable)
		if d.Op == deltafifo.Poisoned {
			d.Object = err
		}
		l.tell(Undecodable{Key: d.Key, Err: err})
	}
	return true
}

// noteChange notes the last change of the batch, by the type of its event. Only Added events are
// sure to belong to an initial state: a server that ignores the request for one may send other
// changes forever.
func (l *loop) noteChange(op deltafifo.Op) {
	w := l.conn
	l.batch[len(l.batch)-1].Unordered = w.unordered
	switch {
	case !w.initial:
	case op == deltafifo.Added:
		l.objects++
		w.quiet = 0
	case op == deltafifo.Deleted:
		l.objects--
	}
}

// lastVersion returns the version that the source has reached with a batch, or "".
func lastVersion(batch []deltafifo.Delta) string {
	for i := len(batch) - 1; i >= 0; i-- {
		if d := &batch[i]; d.Version != "" && !d.Unordered {
			return d.Version
		}
	}
	return ""
}

// writeChanges passes the batch to the sink, which may change the batch.
func (l *loop) writeChanges() (input, error) {
	w, changes, version := l.conn, len(l.batch), lastVersion(l.batch)
	if l.endsWithProgress() {
		l.times.progressed = time.Now()
	}
	if err := l.flush(); err != nil {
		return input{kind: inSinkFailed}, err
	}
	w.count += changes
	if w.initial && l.times.pagedIsDue() {
		l.times.paged = time.Now()
		l.tell(Paged{Operation: OpStream, Objects: l.objects, Remaining: -1, Bytes: l.bytes})
	}
	return input{kind: inEvents, version: version}, nil
}

// readBookmarkOrError handles a bookmark or an error event. It skips invalid events.
func (l *loop) readBookmarkOrError(e watch.Event) (input, error) {
	switch m := object.Meta(e.Object); {
	case e.Type == watch.Error:
		return input{kind: inFailed}, apierrors.FromObject(e.Object)
	case e.Type != watch.Bookmark:
		l.reportSkipped(fmt.Errorf("%w: an event of type %.100q", ErrUnexpected, e.Type))
	case m == nil:
		l.reportSkipped(fmt.Errorf("%w: a bookmark of type %T, which has no metadata", ErrUnexpected, e.Object))
	default:
		if !l.conn.initial { // a bookmark is not a change
			l.conn.count++
		}
		l.conn.unordered = false
		in := input{kind: inBookmark, version: m.GetResourceVersion(), end: m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"}
		if in.end && in.version == "" {
			return in, fmt.Errorf("%w: a stream without a resourceVersion", ErrBadAnswer)
		}
		return in, nil
	}
	return input{}, nil
}

// endOfWatch returns the reason for the end of a stream or watch.
func (l *loop) endOfWatch() (input, error) {
	w := l.conn
	in := input{kind: w.ended}
	switch {
	case in.kind == inFailed:
		return in, w.err
	case in.kind == inSilent && w.initial && time.Since(w.requestedAt) >= l.mayLast(w):
		return in, errStreamEnded
	case in.kind == inSilent && w.initial && w.count > l.objects: // changes arrived
		return in, errNoBookmark
	case in.kind == inSilent:
		return in, ErrSilent
	case in.kind == inClosed && w.initial:
		return in, errStreamEnded
	case in.kind == inClosed:
		in.short = time.Since(w.requestedAt) < shortWatch
		return in, errShortWatch
	default:
		return in, nil
	}
}

// addDelta appends an empty delta to the batch and returns it. Filling it in place saves a copy,
// which would be a large part of an event's cost.
func (l *loop) addDelta() *deltafifo.Delta {
	l.batch = append(l.batch, deltafifo.Delta{})
	return &l.batch[len(l.batch)-1]
}

// dropDelta removes the last delta.
func (l *loop) dropDelta() {
	last := len(l.batch) - 1
	l.batch[last] = deltafifo.Delta{}
	l.batch = l.batch[:last]
}

// clearBatch empties a batch that was written or is not needed.
func (l *loop) clearBatch() {
	clear(l.batch)
	l.batch = l.batch[:0]
}

// flush writes the batch to the sink and empties it.
func (l *loop) flush() error {
	if len(l.batch) == 0 {
		return nil
	}
	err := l.sink.Write(l.ctx, l.batch)
	l.clearBatch()
	if err != nil {
		return sinkError(err)
	}
	return nil
}

func sinkError(err error) error { return fmt.Errorf("%w: %w", errSink, err) }
