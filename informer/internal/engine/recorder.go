package engine

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// status records what the goroutines of an informer report.
type status struct {
	quarantined atomic.Int64

	watchLasts time.Duration // the longest time that a healthy watch may be silent

	mu       sync.Mutex
	seen     Status // counts and errors that do not depend on the number of sources
	bySource []sourceStatus
	applied  []atomic.Uint64 // by source: deltas applied since the informer was made
	started  time.Time       // when the run began
}

// noteKind is a feature that a source may lack.
type noteKind uint8

const (
	noteVersions noteKind = iota
	noteStreams
	noteKinds
)

// notes returns the first note of each kind. The caller holds mu.
func (s *status) notes() (all []string) {
	for kind := range noteKinds {
		i := slices.IndexFunc(s.bySource, func(p sourceStatus) bool { return p.notes[kind] != "" })
		if i >= 0 {
			all = append(all, s.bySource[i].notes[kind])
		}
	}
	return all
}

// refused counts an object left out because of its type.
func (s *status) refused() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.seen.LeftOut++
}

// sourceStatus is the state of one source.
type sourceStatus struct {
	watching, notServed, lastEvent, lastBookmark time.Time
	opened                                       time.Time // when the last watch began
	progress                                     Progress  // of the full state being read
	receipts                                     receipts
	last                                         RecentError       // kept after the failure is over
	failing                                      bool              // the last list or watch failed with the last error
	notes                                        [noteKinds]string // empty for no note
}

// absent reports whether the server does not have the resource. Another error, such as a refusal, means that
// the server has it.
func (p *sourceStatus) absent() bool {
	return !p.notServed.IsZero() && (!p.failing || p.last.Class == reflector.ErrorNotServed)
}

// read records a full state, which ends notes about what the source turned out to have.
func (p *sourceStatus) read(e reflector.Listed) {
	p.progress, p.failing = Progress{}, false
	if e.Version != "" {
		p.notes[noteVersions] = ""
	}
	if e.Operation == reflector.OpStream {
		p.notes[noteStreams] = ""
	}
}

// reflected records an event of the reflector of source i.
func (s *status) reflected(i int, e reflector.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.bySource[i]
	switch e := e.(type) {
	case reflector.WatchStarted:
		s.seen.Totals.Watches++
		p.watching = time.Now()
		p.opened, p.failing = p.watching, false
	case reflector.WatchEnded:
		p.watching = time.Time{}
	case reflector.Listed:
		s.listed(e)
		p.read(e)
	case reflector.Asked:
		p.asked(e)
	case reflector.Paged:
		p.paged(e)
	case reflector.BackedOff:
		s.seen.Totals.Waits++
		s.seen.Totals.Waited += e.Delay
		if !e.Page {
			p.progress = Progress{}
		}
	case reflector.NotServed:
		p.progress, p.notServed = Progress{}, time.Now()
		p.notes[noteStreams] = "" // the stream may have failed because the resource was missing
	case reflector.Served:
		p.notServed = time.Time{}
	case reflector.HistoryUnknown:
		p.notes[noteVersions] = "full states have no resourceVersion: the server's history is unknown"
	case reflector.StreamRefused:
		p.notes[noteStreams] = "the initial state is listed, not streamed: " + e.Reason
	case reflector.Skipped:
		s.seen.LeftOut++
	case reflector.Failed:
		p.last, p.failing = s.failed(e), true
	}
}

// listed counts a full state. The caller holds mu.
func (s *status) listed(e reflector.Listed) {
	totals := &s.seen.Totals
	if e.Operation == reflector.OpStream {
		totals.Streams++
	} else {
		totals.Lists++
	}
	if totals.Relists == nil {
		totals.Relists = make(map[reflector.Cause]int)
	}
	totals.Relists[e.Cause]++
}

// mostErrors is the highest number of errors kept.
const mostErrors = 16

// failed counts an error, and adds it to the recent ones. The caller holds mu.
func (s *status) failed(e reflector.Failed) RecentError {
	seen := &s.seen
	seen.Errors++
	if !errors.Is(seen.LastError, ErrExited) {
		seen.LastError = e.Err
	}
	if seen.Totals.Errors == nil {
		seen.Totals.Errors = make(map[reflector.ErrorClass]int)
	}
	seen.Totals.Errors[e.Class]++
	failed := RecentError{At: time.Now(), Class: e.Class, Err: e.Err}
	if n := len(seen.RecentErrors); n > 0 { // an error may hold a whole response
		before := &seen.RecentErrors[n-1]
		before.Err = textError(before.Err.Error())
	}
	seen.RecentErrors = append(seen.RecentErrors[max(0, len(seen.RecentErrors)+1-mostErrors):], failed)
	return failed
}

// exited records the error that has ended the run.
func (s *status) exited(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.seen.LastError = err
}

// asked records a request for a full state, whether first or repeated.
func (p *sourceStatus) asked(e reflector.Asked) {
	if e.Operation == reflector.OpWatch {
		return
	}
	p.progress = Progress{Since: time.Now(), Remaining: -1}
}

// paged records the progress of a full state.
func (p *sourceStatus) paged(e reflector.Paged) {
	p.progress.Objects, p.progress.Remaining, p.progress.Bytes = e.Objects, e.Remaining, e.Bytes
}

// received records a batch of changes, or a bookmark. number is the number of its last delta.
func (s *status) received(source uint16, bookmark bool, number uint64) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.bySource[source]
	p.receipts.add(receipt{now, number}, s.applied[source].Load())
	if bookmark {
		p.lastBookmark = now
	} else {
		p.lastEvent = now
	}
}

// answered records a complete answer of the server, whatever its content. number is the number of its last
// delta.
func (s *status) answered(source uint16, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.bySource[source].receipts.add(receipt{time.Now(), number}, s.applied[source].Load())
}

// changed records a full state that changed the store.
func (s *status) changed(source uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.bySource[source].lastEvent = time.Now()
}

// began records the start of the run.
func (s *status) began() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.started = time.Now()
}

// stopped records the end of the run, after which no source is read.
func (s *status) stopped() {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.bySource {
		p := &s.bySource[i]
		p.watching, p.notServed, p.progress, p.failing = time.Time{}, time.Time{}, Progress{}, false
	}
}

// synced records that the store is complete. It is called once.
func (s *status) synced() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.seen.SyncTook = time.Since(s.started)
}

// unwatched returns a source that is not being watched, if there is one.
func (s *status) unwatched() (source uint16, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	i := slices.IndexFunc(s.bySource, func(p sourceStatus) bool { return p.watching.IsZero() })
	return uint16(i), i >= 0 //nolint:gosec // at most maxSources
}

// unanswered records that a source did not answer with its newest version. Such a source does not count as
// failing.
func (s *status) unanswered(source uint16, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if p := &s.bySource[source]; !p.failing {
		p.last = RecentError{At: time.Now(), Class: reflector.ClassOf(err), Err: err}
	}
}

// lastErrorOf returns the last error of some sources; nil stands for all sources. Errors of sources that fail
// now take precedence.
func (s *status) lastErrorOf(sources []uint16) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	var last sourceStatus
	for i, p := range s.bySource {
		if sources != nil && !slices.Contains(sources, uint16(i)) { //nolint:gosec // at most maxSources
			continue
		}
		if p.failing && !last.failing || p.failing == last.failing && p.last.At.After(last.last.At) {
			last = p
		}
	}
	return last.last.Err
}

// recorded returns a Status with what is recorded.
func (s *status) recorded() Status {
	s.mu.Lock()
	defer s.mu.Unlock()

	to := s.seen
	to.RecentErrors, to.Totals.Errors, to.Totals.Relists = slices.Clone(to.RecentErrors), maps.Clone(to.Totals.Errors), maps.Clone(to.Totals.Relists)
	to.Quarantined = int(s.quarantined.Load())
	to.Relists = max(0, to.Totals.Lists+to.Totals.Streams-len(s.bySource))
	to.Notes = s.notes()
	to.Watching = true
	for i, p := range s.bySource {
		to.Watching = to.Watching && !p.watching.IsZero()
		to.WatchingSince = later(to.WatchingSince, p.watching)
		switch {
		case p.absent():
			if to.NotServedSince.IsZero() || p.notServed.Before(to.NotServedSince) {
				to.NotServedSince = p.notServed
			}
		case p.failing:
			to.addFailing(p.last)
		}
		to.Progress.add(p.progress)
		to.LastEvent = later(to.LastEvent, p.lastEvent)
		if confirmed := s.confirmed(i); i == 0 || confirmed.Before(to.Confirmed) {
			to.Confirmed = confirmed
		}
	}
	if !to.Watching {
		to.WatchingSince = time.Time{}
	}
	to.Stale = s.staleLocked()
	if !to.Confirmed.IsZero() {
		to.Staleness = time.Since(to.Confirmed)
	}
	return to
}

// addFailing adds the error of a source, unless there is a newer one of the same class.
func (s *Status) addFailing(e RecentError) {
	i := slices.IndexFunc(s.Failing, func(known RecentError) bool { return known.Class == e.Class })
	switch {
	case i < 0:
		s.Failing = append(s.Failing, e)
	case e.At.After(s.Failing[i].At):
		s.Failing[i] = e
	}
}

// add adds the progress of another source. The sum of Remaining is known only if every addend is.
func (p *Progress) add(other Progress) {
	if other.Since.IsZero() {
		return
	}
	if p.Since.IsZero() {
		*p = other
		return
	}
	if other.Since.Before(p.Since) {
		p.Since = other.Since
	}
	p.Objects += other.Objects
	p.Bytes += other.Bytes
	if p.Remaining < 0 || other.Remaining < 0 {
		p.Remaining = -1
	} else {
		p.Remaining += other.Remaining
	}
}
