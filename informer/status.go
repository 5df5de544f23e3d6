package informer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Status is the state of an informer at one moment. Times are zero for events that have not
// happened yet.
type Status struct {
	Name    string
	Running bool // Run was called and has not returned
	Stopped bool // Run has returned, or is about to
	Synced  bool // the store has been complete once

	// Watching says whether the source is being watched, and WatchingSince since when. With several
	// sources, all have to be watched.
	Watching      bool
	WatchingSince time.Time
	// NotServedSince is the time since when the server has not served the resource; the informer
	// waits for it. It is zero if the resource is served, or the server cannot be asked. With
	// several sources it is the earliest time.
	NotServedSince time.Time
	LastEvent      time.Time // when the last change arrived
	LastBookmark   time.Time
	// Confirmed is the time of the server's last answer whose changes the store has: it was up to date
	// then. Staleness is its age, zero before the first list.
	Confirmed time.Time
	Staleness time.Duration
	// Stale says that the informer runs, and the store has got nothing from the server for longer than
	// a healthy server is silent: for two minutes, two periods of bookmarks; or, if the source has sent
	// no bookmark, for as long as a watch may last since the last watch began. One silent source is
	// enough, and so is an index function that does not return.
	Stale bool

	Version     string // the resourceVersion of the store
	Objects     int
	Quarantined int   // objects that cannot be decoded or transformed
	Unindexed   int   // objects on which an index function fails, counted for each index
	Relists     int   // full states after the first
	Errors      int   // failed lists and watches
	LastError   error // or that of a function that has ended the run, or in the constructor's arguments
	LastErrorAt time.Time
	// Failing are the errors because of which a source is not read now, at most one of each class:
	// the last list or watch of the source has failed, and none has succeeded since. Errors that are
	// over are in RecentErrors.
	Failing []RecentError
	// Notes name features missing in the source, which the informer does without: versions of full
	// states, streams of the initial state. Each note appears once, until the source turns out
	// to have the feature, and is no error.
	Notes []string

	// LeftOut counts objects and events of another type than the informer's, which were left out:
	// in lists and watches, and in results of the transform. LastLeftOut is the error of the last
	// one, with its type.
	LeftOut       int
	LastLeftOut   error
	LastLeftOutAt time.Time

	// SyncTook is the time from the first Run until the store was complete, zero before that.
	SyncTook time.Duration
	// Totals count events since the informer was made.
	Totals Totals
	// Progress describes the full state being read.
	Progress Progress
	// RecentErrors are the last errors of lists and watches, at most 16, the newest last.
	RecentErrors []RecentError

	Handlers []HandlerStatus
}

// Totals count the events of an informer. No total ever goes down. A full state that was begun and
// not completed counts only as an error.
type Totals struct {
	// Lists and Streams count the full states read by a list and by a stream. Watches counts the
	// watches that the server has accepted, including streams that continued as a watch.
	Lists, Streams, Watches int
	// Relists counts the full states of each cause. The first full state of each source and run
	// counts as [reflector.CauseStart]. Causes that did not occur are missing.
	Relists map[reflector.Cause]int
	// Errors counts the failed lists and watches of each class. Classes that did not occur are
	// missing.
	Errors map[reflector.ErrorClass]int
	// Waits counts the requests put off after a failure, and Waited is the sum of the delays.
	Waits  int
	Waited time.Duration
	// Added, Updated and Deleted count changes, each once for any number of handlers (or none),
	// without resyncs. The objects of the first full state count as added, and a re-created object
	// as deleted and added. Bookmarks counts the bookmarks received.
	Added, Updated, Deleted, Bookmarks uint64
	// Shared counts the values that were not stored because another object had an equal value, see
	// [reflector.Decoding].
	Shared uint64
}

// Progress describes how much of a full state has been read.
type Progress struct {
	Since   time.Time // when it was requested; zero if none is being read
	Objects int       // objects read, of all sources
	// Remaining is the number of objects still to come by the server's account, -1 if unknown.
	Remaining int64
	Bytes     int64 // bytes read, see [reflector.Paged]
}

// RecentError is an error of a list or watch.
type RecentError struct {
	At    time.Time
	Class reflector.ErrorClass
	Err   error
}

// HandlerStatus is the state of one handler.
type HandlerStatus struct {
	Name    string
	Synced  bool
	Backlog int // undelivered events
	// Lagging says that the backlog has grown above [HandlerOptions].MaxBacklog, and that the
	// handler has not caught up since.
	Lagging bool
	// Failures counts the changes on which the handler panicked.
	Failures int
	// Told counts the events delivered, including resyncs and the initial state.
	Told uint64
}

// status records the reports of an informer's goroutines.
type status struct {
	quarantined atomic.Int64

	watchLasts time.Duration // the longest time that a healthy watch may be silent

	mu          sync.Mutex
	parts       []partStatus
	applied     []atomic.Uint64 // by part: the deltas applied since the informer was made
	lists       int             // full states: by list, by stream, or filled in by a user
	errors      int
	lastError   error
	lastErrorAt time.Time
	recent      []RecentError
	totals      Totals // but for Relists
	relists     []relists
	started     time.Time // when the first run began
	syncTook    time.Duration
	leftOut     leftOut
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
		i := slices.IndexFunc(s.parts, func(p partStatus) bool { return p.notes[kind] != "" })
		if i >= 0 {
			all = append(all, s.parts[i].notes[kind])
		}
	}
	return all
}

// leftOut counts the objects left out because of their type, and keeps the last error.
type leftOut struct {
	count int
	last  error
	at    time.Time
}

func (l *leftOut) add(err error) { *l = leftOut{l.count + 1, err, time.Now()} }

// refused records an object of another type.
func (s *status) refused(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.leftOut.add(err)
}

// partStatus is the state of one source.
type partStatus struct {
	watching, notServed, lastEvent, lastBookmark time.Time
	opened                                       time.Time // when a watch last began
	progress                                     Progress  // of the full state being read
	receipts                                     receipts
	failing                                      RecentError       // zero if the last list or watch did not fail
	notes                                        [noteKinds]string // empty for no note
}

// absent reports whether the server does not have the resource. An answer that it is refused, say,
// means that it is there.
func (p *partStatus) absent() bool {
	return !p.notServed.IsZero() && (p.failing.Err == nil || p.failing.Class == reflector.ErrorNotServed)
}

// read records a full state: the source has what it took.
func (p *partStatus) read(e reflector.Listed) {
	p.progress, p.notServed, p.failing = Progress{}, time.Time{}, RecentError{}
	if e.Version != "" {
		p.notes[noteVersions] = ""
	}
	if e.Operation == reflector.OpStream {
		p.notes[noteStreams] = ""
	}
}

// reflected records an event of the reflector of part i.
func (s *status) reflected(i int, e reflector.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.parts[i]
	switch e := e.(type) {
	case reflector.WatchStarted:
		s.totals.Watches++
		p.watching = time.Now()
		p.opened, p.failing = p.watching, RecentError{}
	case reflector.WatchEnded:
		p.watching = time.Time{}
	case reflector.Listed: // also if another reflector reported that the resource is not served
		s.lists++
		s.listed(e)
		p.read(e)
	case reflector.Asked:
		p.asked(e)
	case reflector.Paged:
		p.paged(e)
	case reflector.BackedOff:
		s.totals.Waits++
		s.totals.Waited += e.Delay
		p.progress = Progress{}
	case reflector.NotServed:
		p.progress, p.notServed = Progress{}, time.Now()
	case reflector.Served:
		p.notServed = time.Time{}
	case reflector.HistoryUnknown:
		p.notes[noteVersions] = "full states have no resourceVersion: the server's history is unknown"
	case reflector.StreamRefused:
		p.notes[noteStreams] = "the initial state is listed, not streamed: " + e.Reason
	case reflector.Skipped:
		s.leftOut.add(e.Err)
	case reflector.Failed:
		p.failing = s.failed(e)
	}
}

// filled records that the store shows a user's initial state of a source.
func (s *status) filled() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lists++
}

// relists counts the full states of one cause. Most informers have one cause, for which a map would
// be large.
type relists struct {
	cause reflector.Cause
	n     int
}

// listed counts a full state. The caller holds mu.
func (s *status) listed(e reflector.Listed) {
	if e.Operation == reflector.OpStream {
		s.totals.Streams++
	} else {
		s.totals.Lists++
	}
	i := slices.IndexFunc(s.relists, func(c relists) bool { return c.cause == e.Cause })
	if i < 0 {
		i = len(s.relists)
		s.relists = append(s.relists, relists{cause: e.Cause})
	}
	s.relists[i].n++
}

// mostErrors is the number of errors kept.
const mostErrors = 16

// failed counts an error, and keeps it among the recent ones. The caller holds mu.
func (s *status) failed(e reflector.Failed) RecentError {
	now := time.Now()
	s.errors++
	if !errors.Is(s.lastError, ErrExited) {
		s.lastError, s.lastErrorAt = e.Err, now
	}
	if s.totals.Errors == nil {
		s.totals.Errors = make(map[reflector.ErrorClass]int)
	}
	s.totals.Errors[e.Class]++
	if len(s.recent) == mostErrors {
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	failed := RecentError{At: now, Class: e.Class, Err: e.Err}
	s.recent = append(s.recent, failed)
	return failed
}

// exited records that a user's function has ended the run.
func (s *status) exited(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastError, s.lastErrorAt = err, time.Now()
}

// asked records a request for a full state, the first or a repeated one.
func (p *partStatus) asked(e reflector.Asked) {
	if e.Operation == reflector.OpWatch {
		return
	}
	p.progress = Progress{Since: time.Now(), Remaining: -1}
}

// paged records the progress of a full state.
func (p *partStatus) paged(e reflector.Paged) {
	p.progress.Objects, p.progress.Remaining, p.progress.Bytes = e.Objects, e.Remaining, e.Bytes
}

// received records a batch of changes, or a bookmark, that ends with a numbered delta.
func (s *status) received(part uint16, bookmark bool, number uint64) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.parts[part]
	p.receipts.add(receipt{now, number}, s.applied[part].Load())
	if bookmark {
		p.lastBookmark = now
	} else {
		p.lastEvent = now
	}
}

// answered records a complete answer of the server, whatever its content, that ends with a numbered
// delta.
func (s *status) answered(part uint16, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts[part].receipts.add(receipt{time.Now(), number}, s.applied[part].Load())
}

// confirmed returns the time at which the server last confirmed the store's state of a part. The caller
// holds mu.
func (s *status) confirmed(part int) time.Time {
	return s.parts[part].receipts.confirmed(s.applied[part].Load())
}

// countApplied counts applied deltas of a part: an answer confirms the store once it is applied.
func (s *status) countApplied(part uint16, n int) { s.applied[part].Add(uint64(n)) } //nolint:gosec // never negative

// changed records a full state that has changed the store.
func (s *status) changed(part uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts[part].lastEvent = time.Now()
}

// began records the start of a run, and drops the errors of the previous run.
func (s *status) began() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastError, s.lastErrorAt = nil, time.Time{}
	if s.started.IsZero() {
		s.started = time.Now()
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.notServed, p.notes, p.receipts = time.Time{}, [noteKinds]string{}, receipts{before: s.confirmed(i)}
	}
}

// stopped records the end of a run: no source is watched any more.
func (s *status) stopped() {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.parts {
		p := &s.parts[i]
		p.watching, p.progress, p.failing = time.Time{}, Progress{}, RecentError{}
	}
}

// bookmarkPeriod is how often an API server sends bookmarks, at least.
const bookmarkPeriod = time.Minute

// staleLocked reports whether the store has got nothing from a source for too long. Of a resource that
// is not served, nothing is to be heard. The caller holds mu.
func (s *status) staleLocked() bool {
	for i, p := range s.parts {
		if p.absent() {
			continue
		}
		confirmed := s.confirmed(i)
		heard, patience := confirmed, 2*bookmarkPeriod
		if p.lastBookmark.IsZero() {
			heard, patience = later(confirmed, p.opened), s.watchLasts
		}
		if !confirmed.IsZero() && time.Since(heard) > patience {
			return true
		}
	}
	return false
}

// synced records, once, that the store is complete.
func (s *status) synced() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.syncTook = time.Since(s.started)
}

// watchesAll reports whether all sources are being watched.
func (s *status) watchesAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.parts {
		if s.parts[i].watching.IsZero() {
			return false
		}
	}
	return true
}

// because adds the last error of a list or watch to an error.
func (s *status) because(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.lastError == nil {
		return err
	}
	return fmt.Errorf("%w; last error: %w", err, s.lastError)
}

// fill copies the record into a Status.
func (s *status) fill(to *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()

	to.Quarantined = int(s.quarantined.Load())
	to.Relists = max(0, s.lists-len(s.parts))
	to.Errors, to.LastError, to.LastErrorAt = s.errors, s.lastError, s.lastErrorAt
	to.RecentErrors = slices.Clone(s.recent)
	s.fillTotals(&to.Totals)
	to.SyncTook = s.syncTook
	to.LeftOut, to.LastLeftOut, to.LastLeftOutAt = s.leftOut.count, s.leftOut.last, s.leftOut.at
	to.Notes = s.notes()
	to.Watching = true
	for i, p := range s.parts {
		to.Watching = to.Watching && !p.watching.IsZero()
		to.WatchingSince = later(to.WatchingSince, p.watching)
		switch {
		case p.absent():
			if to.NotServedSince.IsZero() || p.notServed.Before(to.NotServedSince) {
				to.NotServedSince = p.notServed
			}
		case p.failing.Err != nil:
			to.addFailing(p.failing)
		}
		to.Progress.add(p.progress)
		to.LastEvent = later(to.LastEvent, p.lastEvent)
		to.LastBookmark = later(to.LastBookmark, p.lastBookmark)
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
}

// addFailing adds the error of a source, unless it has a newer one of the same class.
func (s *Status) addFailing(e RecentError) {
	i := slices.IndexFunc(s.Failing, func(known RecentError) bool { return known.Class == e.Class })
	switch {
	case i < 0:
		s.Failing = append(s.Failing, e)
	case e.At.After(s.Failing[i].At):
		s.Failing[i] = e
	}
}

// fillTotals copies the reflectors' totals. The caller holds mu.
func (s *status) fillTotals(to *Totals) {
	to.Lists, to.Streams, to.Watches = s.totals.Lists, s.totals.Streams, s.totals.Watches
	to.Errors = maps.Clone(s.totals.Errors)
	if len(s.relists) > 0 {
		to.Relists = make(map[reflector.Cause]int, len(s.relists))
	}
	for _, c := range s.relists {
		to.Relists[c.cause] = c.n
	}
	to.Waits, to.Waited = s.totals.Waits, s.totals.Waited
}

// add adds the progress of another source. The sum of Remaining is known only if each part is.
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

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Status returns the state of the informer. Safe for any goroutine.
func (c *core) Status() Status {
	c.mu.Lock()
	phase, run := c.phase, c.run
	c.mu.Unlock()
	x := c.writer.Indexer()
	st := Status{
		Name:      c.options.Name,
		Running:   phase != created && !closed(run.returned),
		Stopped:   phase == stopped,
		Synced:    c.isSynced(),
		Version:   x.Version(),
		Objects:   x.Len(),
		Unindexed: c.writer.Unindexed(),
	}
	c.status.fill(&st)
	st.Stale = st.Stale && st.Running
	if c.misuse != nil {
		st.LastError = c.misuse
	}
	st.Totals.Added, st.Totals.Updated = c.tally.Shown(eventlog.Added), c.tally.Shown(eventlog.Updated)
	st.Totals.Deleted, st.Totals.Bookmarks = c.tally.Shown(eventlog.Deleted), c.tally.Bookmarks()
	st.Totals.Shared = c.sharing.table.Stats().Found
	for _, handler := range c.processor.States() {
		st.Handlers = append(st.Handlers, HandlerStatus(handler))
	}
	return st
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
