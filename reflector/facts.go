package reflector

import (
	"cmp"
	"time"
)

// All times of a reflector stand here. Those that differ by cluster are [Options]:
// MinWatchTimeout, StreamPatience, ListPatience. The others follow from what
// Kubernetes promises, or from client-go. Those of a resource that
// is not served are in internal/served.
const (
	// firstDelay is the first step of a back-off, doubled with each further one up
	// to lastDelay, and to that comes up to as much again by chance.
	firstDelay = 800 * time.Millisecond
	lastDelay  = 30 * time.Second
	// maxRetryAfter is the longest that a server is left alone because it says so.
	maxRetryAfter = 10 * time.Minute
	// healthyAfter is how long nothing must fail until back-off starts anew.
	healthyAfter = 2 * time.Minute
	// streamRetry is how long streams are not tried again that were given up.
	streamRetry = 10 * time.Minute

	// listPatience is how long a list, or a page of one, may take to arrive, unless
	// the options say otherwise: kube-apiserver itself gives up after a minute.
	listPatience = 10 * time.Minute
	// streamPatience is how long a stream may bring nothing of its initial state,
	// unless the options say otherwise; unknownPatience, where the source may be
	// one that cannot stream.
	streamPatience  = 10 * time.Second
	unknownPatience = time.Second
	// slowStream is how long a stream may go on, of a source that may be one that
	// cannot stream, with fewer than fewObjects: a list brings as many at once.
	slowStream = 30 * time.Second

	// sourcePatience is after how long it is told that a source does not say what it
	// can do, which may be the first call of functions that make it.
	sourcePatience = 10 * time.Second

	// aheadPatience is how long a list waits to be committed until the watch is open
	// that follows it, where the source may be a fake. Programs that wait for
	// client-go's informers look as often.
	aheadPatience = 100 * time.Millisecond

	// minTimeout is the least time that a watch is asked to last.
	minTimeout = 5 * time.Minute
	// watchPatience is how much longer than it was asked to last a watch may
	// bring nothing.
	watchPatience = 30 * time.Second
	// unconfirmedPatience is how long a watch may bring nothing that follows an
	// outage: longer than servers take between two bookmarks.
	unconfirmedPatience = 90 * time.Second
	// resumedPatience is how long a watch that resumes is given, once it is open, to bring
	// what has changed before: servers send it at once. It is complete when the watch
	// brings nothing for resumedPause after that.
	resumedPatience = time.Second
	resumedPause    = 50 * time.Millisecond
	// resumedLimit is how long it may bring events without such a pause, before a full state
	// is read: what never pauses would never be known to be complete.
	resumedLimit = 5 * time.Second
	// slowOpening is how long a server that is there does not take to open a
	// watch, and what a client waits at least before it tries again by itself.
	slowOpening = time.Second
	// shortWatch is the age up to which the end of a watch that brought
	// nothing is a failure.
	shortWatch = time.Second

	// grace is how long a call may take to return when its context has ended. It
	// is what keeps a source that does return from being left behind by Run.
	grace = 50 * time.Millisecond
	// connectPause lies at least between two of the connectAttempts of a request that
	// met a broken connection, and at most twice as much, by chance: the connection was
	// that of all informers. Both are client-go's.
	connectPause = time.Second
	// pagedEvery is how often what came of a full state is told.
	pagedEvery = time.Second
)

// fewObjects belongs to slowStream.
const fewObjects = 100

// times is when things happened. The machine is told what follows from them.
type times struct {
	cycleStart     time.Time // when the full state was first asked for; zero between two
	watchStart     time.Time // when the watch began; zero if there is none
	healthySince   time.Time // since when watches go on without a failure; zero after one
	streamDisabled time.Time // when a stream was given up last; zero if never
	paged          time.Time // when the last Paged of a full state was told
	retryAfter     time.Duration
}

// facts adds the facts about time to in. They matter to what ends or begins
// something, not to every batch.
func (t *times) facts(in input) input {
	if in.kind != inEvents {
		in.healthy = elapsed(t.healthySince, healthyAfter)
		in.retryStream = elapsed(t.streamDisabled, streamRetry)
	}
	return in
}

// note writes down when what the machine has decided happens. Phase is the one
// that it is in now.
func (t *times) note(in input, a action, phase phase) {
	now := time.Now()
	if a.close {
		t.watchStart = time.Time{}
	}
	if watchBegins(in, phase) {
		t.watchStart = now
		if t.healthySince.IsZero() {
			t.healthySince = now
		}
	}
	if a.failed || a.rolledBack { // a server whose history goes back again and again is not well
		t.healthySince = time.Time{}
	}
	if a.streamDisabled {
		t.streamDisabled = now
	}
	switch {
	case in.kind == inCommitted, a.op == doWait, a.op == doAwait:
		t.cycleStart = time.Time{}
	case t.cycleStart.IsZero() && (a.op == doList || a.op == doStream):
		t.cycleStart = now
	}
}

// watchBegins says that a watch was accepted, or that a stream goes on as one.
func watchBegins(in input, phase phase) bool {
	return phase == watching && (in.kind == inOpened || in.kind == inCommitted)
}

func elapsed(since time.Time, d time.Duration) bool {
	return !since.IsZero() && time.Since(since) >= d
}

// backoff returns the delay of a step, counted from 1. Random is in [0, 1).
func backoff(step int, random float64) time.Duration {
	d := lastDelay
	if shift := step - 1; shift < 6 {
		d = min(firstDelay<<shift, lastDelay)
	}
	return d + time.Duration(random*float64(d))
}

// delay is how long the step of a back-off takes. A server tells many the same time after
// which to come back: they come up to firstDelay later, by chance, and not in one instant.
func (l *loop) delay(step int) time.Duration {
	if l.o.Backoff != nil {
		return max(l.o.Backoff(step), l.times.retryAfter)
	}
	random := l.random()
	after := l.times.retryAfter
	if after > 0 {
		after += time.Duration(random * float64(firstDelay))
	}
	return max(backoff(step, random), after)
}

// after returns what is sent to after a delay, and what ends the wait before.
func (l *loop) after(delay time.Duration) (over <-chan time.Time, end func()) {
	if l.o.After != nil {
		return l.o.After(delay), func() {}
	}
	timer := time.NewTimer(delay)
	return timer.C, func() { timer.Stop() }
}

// timeout is how long a watch is asked to last.
func (l *loop) timeout() time.Duration {
	least := max(minTimeout, l.o.MinWatchTimeout)
	return least + time.Duration(l.random()*float64(least))
}

// LongestWatch is how long a watch may bring nothing before the reflector gives it up, for
// [Options].MinWatchTimeout: it is asked to last up to twice that, and may end late.
func LongestWatch(minWatchTimeout time.Duration) time.Duration {
	return 2*max(minTimeout, minWatchTimeout) + watchPatience
}

// patience is how long w may bring nothing.
func (l *loop) patience(w *watchConn) time.Duration {
	switch {
	case !w.initial && l.machine.watch.proof == unconfirmed:
		return unconfirmedPatience
	case !w.initial && l.machine.watch.proof == resumed && l.machine.phase == watching:
		return max(resumedPause, resumedPatience-time.Since(l.times.watchStart))
	case !w.initial && l.machine.watch.proof == resumed:
		return unconfirmedPatience
	case !w.initial:
		return w.lasts
	case l.o.StreamPatience != 0:
		return l.o.StreamPatience
	case l.streaming == StreamingSupported:
		return streamPatience
	default:
		return unknownPatience
	}
}

// neverPauses tells whether a watch that resumes has had its time to pause.
func (l *loop) neverPauses(w *watchConn) bool {
	return !w.initial && l.machine.watch.proof == resumed && l.machine.phase == watching && time.Since(l.times.watchStart) >= resumedLimit
}

// mayLast is how long w may go on, if it is a stream, until its initial state is
// complete.
func (l *loop) mayLast(w *watchConn) time.Duration {
	if l.streaming == StreamingUnknown && l.objects < fewObjects {
		return min(slowStream, w.lasts)
	}
	return w.lasts
}

// listPatience is how long a page of a list may take to arrive.
func (l *loop) listPatience() time.Duration { return cmp.Or(l.o.ListPatience, listPatience) }

// pagedIsDue says whether to tell how much of a full state came.
func (t *times) pagedIsDue() bool { return elapsed(t.paged, pagedEvery) }
