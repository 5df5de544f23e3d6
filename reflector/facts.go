package reflector

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/keeper"
)

// The durations of a reflector. Users set those that depend on the cluster in [Options]:
// MinWatchTimeout, StreamPatience and ListPatience. The others follow from Kubernetes' guarantees,
// or from client-go. Package keeper has MinTimeout and WatchPatience.
const (
	// firstDelay is the first step of a back-off. Each further step doubles it, up to lastDelay. A
	// random part of the step is added.
	firstDelay = 800 * time.Millisecond
	lastDelay  = 30 * time.Second
	// missingDelay is lastDelay for a missing resource. A random part of at most half is added.
	missingDelay = 10 * time.Second
	// maxRetryAfter bounds a server's Retry-After.
	maxRetryAfter = 10 * time.Minute
	// healthyAfter is the time without a failure that resets the back-off.
	healthyAfter = 2 * time.Minute
	// streamsDisabledFor is how long the reflector uses no streams after one did not work.
	streamsDisabledFor = 10 * time.Minute

	// listPatience is how long a page of a list may take to arrive, by default. kube-apiserver
	// itself gives up after a minute.
	listPatience = 10 * time.Minute
	// streamPatience is how long a stream may send nothing of its initial state, by default.
	// unknownPatience applies if the source may be unable to stream.
	streamPatience  = 10 * time.Second
	unknownPatience = time.Second
	// slowStream is how long a stream may take to send fewObjects, if the source may be unable to
	// stream. A list returns as many at once.
	slowStream = 30 * time.Second

	// aheadPatience is how long the commit of a list waits for the following watch to open, if the
	// source may be a fake. Programs that wait for client-go's informers poll at this interval.
	aheadPatience = 100 * time.Millisecond

	// briefTimeout is the timeout of a watch that is opened for a bookmark. kube-apiserver sends a
	// bookmark two seconds before it ends a watch, but not within the first second.
	briefTimeout = 3 * time.Second
	// askAgainAfter is the minimum time between two such watches of a source.
	askAgainAfter = 2 * time.Second
	// unconfirmedPatience is how long a watch may send nothing after an outage. It is longer than
	// the time between two bookmarks.
	unconfirmedPatience = 90 * time.Second
	// slowOpening is longer than a reachable server takes to open a watch. No client retries by
	// itself sooner.
	slowOpening = time.Second
	// shortWatch is the age up to which a watch that ends without events has failed.
	shortWatch = time.Second

	// selectorOmittedFor is how long requests omit the selector of a share after the server refused
	// it.
	selectorOmittedFor = 10 * time.Minute
	// progressEvery is how often the sink gets the versions of foreign events if there are no other
	// events.
	progressEvery = 100 * time.Millisecond

	// pagedEvery is how often the progress of a full state is reported.
	pagedEvery = time.Second
)

// fewObjects is the number of objects that slowStream refers to.
const fewObjects = 100

// times has the times of past events. The machine gets only facts derived from them.
type times struct {
	cycleStart        time.Time // when the full state was first requested; zero between two
	watchStart        time.Time // when the watch began; zero if there is none
	healthySince      time.Time // since when watches work without a failure; zero after one
	streamsDisabledAt time.Time // when streams were last disabled; zero if never
	missingSince      time.Time // since when the resource is missing; zero if it is not
	paged             time.Time // when the last Paged of a full state was reported
	selectorRefusedAt time.Time // when a selector was last refused; zero if never
	progressed        time.Time // when a Progress was passed on last
	retryAfter        time.Duration
}

// facts adds the facts about time to an input. Batches of events do not need them.
func (t *times) facts(in input) input {
	if in.kind != inEvents {
		in.healthy = elapsed(t.healthySince, healthyAfter)
		in.enableStreams = elapsed(t.streamsDisabledAt, streamsDisabledFor)
	}
	return in
}

// note records the time of the machine's decision. The argument phase is the machine's new phase.
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
	if a.failed || a.rolledBack { // a server whose history keeps going back is not healthy
		t.healthySince = time.Time{}
	}
	if a.streamsDisabled {
		t.streamsDisabledAt = now
	}
	switch {
	case in.kind == inCommitted:
		t.missingSince = time.Time{}
	case a.missing && t.missingSince.IsZero():
		t.missingSince = now
	}
	switch {
	case in.kind == inCommitted, a.op == doWait && phase != waitingToPage:
		t.cycleStart = time.Time{}
	case t.cycleStart.IsZero() && (a.op == doList || a.op == doStream):
		t.cycleStart = now
	}
}

// watchBegins reports whether a watch was accepted, or a stream continues as a watch.
func watchBegins(in input, phase phase) bool {
	return phase == watching && (in.kind == inOpened || in.kind == inCommitted)
}

func elapsed(since time.Time, d time.Duration) bool {
	return !since.IsZero() && time.Since(since) >= d
}

// backoff returns the delay of a step, counted from 1. Random is in [0, 1).
func backoff(step int, longest time.Duration, random float64) time.Duration {
	d := longest
	if shift := step - 1; shift < 6 {
		d = min(firstDelay<<shift, longest)
	}
	return d + time.Duration(random*float64(d))
}

// delay returns the duration of a back-off.
func (l *loop) delay(a action) time.Duration {
	if l.o.Backoff != nil {
		return max(l.o.Backoff(a.attempt), l.times.retryAfter)
	}
	random := l.random()
	if a.missing {
		return backoff(a.attempt, missingDelay, random/2)
	}
	return repeatAfter(a.attempt, l.times.retryAfter, random)
}

// RepeatAfter returns how long a reflector waits before it repeats a request that has failed a
// number of times in a row, the last time with err.
func RepeatAfter(failures int, err error) time.Duration {
	return repeatAfter(failures, retryAfter(err), rand.Float64())
}

// repeatAfter returns the delay of a step, or the server's Retry-After if that is longer. A server
// sends the same Retry-After to many clients, so a random part of firstDelay spreads their requests.
func repeatAfter(step int, retryAfter time.Duration, random float64) time.Duration {
	if retryAfter > 0 {
		retryAfter += time.Duration(random * float64(firstDelay))
	}
	return max(backoff(step, lastDelay, random), retryAfter)
}

// after returns a channel that receives after a delay, and a function that stops the timer.
func (l *loop) after(delay time.Duration) (over <-chan time.Time, end func()) {
	if l.o.After != nil {
		return l.o.After(delay), func() {}
	}
	timer := time.NewTimer(delay)
	return timer.C, func() { timer.Stop() }
}

// timeout returns the timeout to request a watch with.
func (l *loop) timeout(brief bool) time.Duration {
	if brief {
		return briefTimeout
	}
	least := max(keeper.MinTimeout, l.o.MinWatchTimeout)
	return least + time.Duration(l.random()*float64(least))
}

// patience returns how long a stream or watch may send nothing.
func (l *loop) patience(w *watchConn) time.Duration {
	switch {
	case !w.initial && l.machine.watch.proof == unconfirmed:
		return unconfirmedPatience
	case !w.initial:
		return w.lasts
	case l.o.StreamPatience != 0:
		return l.o.StreamPatience
	case l.source.Streams == StreamingSupported:
		return streamPatience
	default:
		return unknownPatience
	}
}

// mayLast returns how long a stream may take to complete its initial state.
func (l *loop) mayLast(w *watchConn) time.Duration {
	if l.source.Streams == StreamingUnknown && l.objects+l.foreignObjects() < fewObjects {
		return min(slowStream, w.lasts)
	}
	return w.lasts
}

// listPatience returns how long a page of a list may take to arrive.
func (l *loop) listPatience() time.Duration { return cmp.Or(l.o.ListPatience, listPatience) }

// pagedIsDue reports whether it is time to report the progress of a full state.
func (t *times) pagedIsDue() bool { return elapsed(t.paged, pagedEvery) }

// The reflector may send paceFree requests without a pause, and then one every pacePause. Over any
// 30 s, that is at most one request a second: 10 free ones, and 20 with a pause.
const (
	paceFree  = 10
	pacePause = 1500 * time.Millisecond
)

// pace limits the requests to a source, whatever it answers (B54: at most one a second over 30 s).
// The machine backs off only after failures. The pace also limits requests after apparent success,
// such as those to a server that serves a resource only briefly.
type pace struct {
	// free is the time after which paceFree attempts are free again.
	free time.Time
}

// delay returns how long the next attempt has to wait.
func (p *pace) delay() time.Duration {
	return max(0, time.Until(p.free.Add(-(paceFree-1)*pacePause)))
}

// count counts an attempt, which is a request for a full state or a watch. Further pages do not
// count.
func (p *pace) count() {
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(pacePause)
}

// lasted uncounts the last attempt, because it was a watch that lasted.
func (p *pace) lasted() { p.free = p.free.Add(-pacePause) }
