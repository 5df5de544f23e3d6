package informer

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Status is how an informer is doing at one moment. Times are zero for what has
// not happened yet.
type Status struct {
	Name    string
	Running bool // Run was called and has not returned
	Stopped bool // Run has returned, or is about to
	Synced  bool // the store has been complete once

	// Watching tells whether the source is being watched, WatchingSince since
	// when. Of an informer with several sources all have to be.
	Watching      bool
	WatchingSince time.Time
	// NotServedSince is since when the server has not had the resource, zero where it has it or
	// cannot be asked: the informer waits for it. Of several sources it is the first one's.
	NotServedSince time.Time
	LastEvent      time.Time // when the last change arrived
	LastBookmark   time.Time
	// Confirmed is when the server last said anything at all: until then the
	// store was up to date. Staleness is its age, zero before the first list.
	Confirmed time.Time
	Staleness time.Duration
	// Stale tells that the informer runs, and the server has been silent for longer than a healthy one is: for two
	// minutes, which are two periods of bookmarks, or, of a source that has sent no bookmark,
	// for as long as a watch may last since the last one began. Of several sources one is enough.
	Stale bool

	Version     string // the resourceVersion that the store is at
	Objects     int
	Quarantined int   // objects that cannot be decoded, or that the transform fails on
	Unindexed   int   // objects that an index function fails on, counted for each index
	Relists     int   // full states after the first
	Errors      int   // failed lists and watches
	LastError   error // or what was wrong with the arguments of the constructor
	LastErrorAt time.Time
	// Notes say what the source does not have, and the informer does without: versions
	// of full states, streams of the initial state. Each is there once, and is no error.
	Notes []string

	// LeftOut is how often an object, or an event, came that was not of the
	// informer's type, and was left out: of lists and watches, and of what the
	// transform returned. LastLeftOut is the last one's error, with its type.
	LeftOut       int
	LastLeftOut   error
	LastLeftOutAt time.Time

	// SyncTook is how long it took from the first Run until the store was complete, zero
	// before that.
	SyncTook time.Duration
	// Totals count what has happened since the informer was made.
	Totals Totals
	// Progress is how far the full state has come that is being read.
	Progress Progress
	// RecentErrors are the last errors of lists and watches, at most 16, the newest last.
	RecentErrors []RecentError

	Handlers []HandlerStatus
}

// Totals count what has happened to an informer. None of them goes down. Full states
// that were begun and not completed count nowhere but as errors.
type Totals struct {
	// Lists and Streams are the full states that came by a list and by a stream, and
	// Watches the watches that the server has accepted, streams that went on as one too.
	Lists, Streams, Watches int
	// Relists are the full states of each cause, the first of each source and run among
	// them as [reflector.CauseStart]. Causes that did not occur are missing.
	Relists map[reflector.Cause]int
	// Errors are the failed lists and watches of each class. Classes that did not occur
	// are missing.
	Errors map[reflector.ErrorClass]int
	// Waits is how often a request was put off after a failure, and Waited for how long
	// altogether.
	Waits  int
	Waited time.Duration
	// Added, Updated and Deleted are the changes that were told to handlers, or would have
	// been, each once however many handlers there are, and without resyncs. The objects of
	// the first full state count as added, and a re-created one as deleted and added.
	// Bookmarks are those that came.
	Added, Updated, Deleted, Bookmarks uint64
	// Shared is how many values were not stored since they were equal to one that another
	// object has, see [reflector.Decoding].
	Shared uint64
}

// Progress is how far a full state has come.
type Progress struct {
	Since   time.Time // when it was asked for; zero where none is being read
	Objects int       // that have come, of all sources
	// Remaining is how many the server says are still to come, -1 where it does not say.
	Remaining int64
	Bytes     int64 // that have come, see [reflector.Paged]
}

// RecentError is an error of a list or watch.
type RecentError struct {
	At    time.Time
	Class reflector.ErrorClass
	Err   error
}

// HandlerStatus is how one handler is doing.
type HandlerStatus struct {
	Name    string
	Synced  bool
	Backlog int // events that wait for it
	// Lagging tells that the backlog has grown above [HandlerOptions].MaxBacklog, and that
	// the handler has not caught up since.
	Lagging bool
	// Failures is how many changes the handler panicked on, or ended its goroutine on.
	Failures int
	// Told is how many events it has been told, those of resyncs and of the initial state
	// too.
	Told uint64
}

// status keeps book of what the goroutines of an informer report.
type status struct {
	quarantined atomic.Int64

	watchLasts time.Duration // the longest that a watch may bring nothing

	mu          sync.Mutex
	parts       []partStatus
	lists       int // full states, of whatever operation
	errors      int
	lastError   error
	lastErrorAt time.Time
	recent      []RecentError
	totals      Totals
	started     time.Time // when the first run began
	syncTook    time.Duration
	leftOut     leftOut
	notes       [noteKinds]string // empty where there is nothing to say
}

// noteKind is what a source may lack.
type noteKind uint8

const (
	noteVersions noteKind = iota
	noteStreams
	noteKinds
)

// note keeps the first note of a kind. The caller holds mu.
func (s *status) note(kind noteKind, text string) {
	if s.notes[kind] == "" {
		s.notes[kind] = text
	}
}

// leftOut is how many objects were left out since they are of another type, and the
// last of them.
type leftOut struct {
	count int
	last  error
	at    time.Time
}

func (l *leftOut) add(err error) { *l = leftOut{l.count + 1, err, time.Now()} }

// refused takes note of an object of another type.
func (s *status) refused(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.leftOut.add(err)
}

// partStatus is what is known of one source.
type partStatus struct {
	watching, notServed, lastEvent, lastBookmark, confirmed time.Time
	opened                                                  time.Time // when a watch last began
	progress                                                Progress  // of the full state that is being read
}

// reflected takes note of an event of the reflector of part i.
func (s *status) reflected(i int, e reflector.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.parts[i]
	switch e := e.(type) {
	case reflector.WatchStarted:
		s.totals.Watches++
		p.watching = time.Now()
		p.opened = p.watching
	case reflector.WatchEnded:
		p.watching = time.Time{}
	case reflector.Listed: // also where another reflector has been told that it is not served
		s.lists++
		s.listed(e)
		p.progress, p.notServed = Progress{}, time.Time{}
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
		s.note(noteVersions, "full states have no resourceVersion: the server's history is unknown")
	case reflector.StreamRefused:
		s.note(noteStreams, "the initial state is listed, not streamed: "+e.Reason)
	case reflector.Skipped:
		s.leftOut.add(e.Err)
	case reflector.Failed:
		s.failed(e)
	}
}

// listed counts a full state. The caller holds mu.
func (s *status) listed(e reflector.Listed) {
	if e.Operation == reflector.OpStream {
		s.totals.Streams++
	} else {
		s.totals.Lists++
	}
	if s.totals.Relists == nil {
		s.totals.Relists = make(map[reflector.Cause]int)
	}
	s.totals.Relists[e.Cause]++
}

// mostErrors is how many errors are kept.
const mostErrors = 16

// failed counts an error, and keeps it for a while. The caller holds mu.
func (s *status) failed(e reflector.Failed) {
	now := time.Now()
	s.errors++
	s.lastError, s.lastErrorAt = e.Err, now
	if s.totals.Errors == nil {
		s.totals.Errors = make(map[reflector.ErrorClass]int)
	}
	s.totals.Errors[e.Class]++
	if len(s.recent) == mostErrors {
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	s.recent = append(s.recent, RecentError{At: now, Class: e.Class, Err: e.Err})
}

// asked notes that a full state is asked for, perhaps once more.
func (p *partStatus) asked(e reflector.Asked) {
	if e.Operation == reflector.OpWatch {
		return
	}
	p.progress = Progress{Since: time.Now(), Remaining: -1}
}

// paged notes how far a full state has come.
func (p *partStatus) paged(e reflector.Paged) {
	p.progress.Objects, p.progress.Remaining, p.progress.Bytes = e.Objects, e.Remaining, e.Bytes
}

// received takes note of a batch of changes, or of a bookmark.
func (s *status) received(part uint16, bookmark bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()

	p := &s.parts[part]
	p.confirmed = now
	if bookmark {
		p.lastBookmark = now
	} else {
		p.lastEvent = now
	}
}

// confirmed takes note of a full state that has come, whatever is in it.
func (s *status) confirmed(part uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts[part].confirmed = time.Now()
}

// changed takes note of a full state that has changed the store.
func (s *status) changed(part uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts[part].lastEvent = time.Now()
}

// began takes note of the start of a run: the errors of the last one are not its own.
func (s *status) began() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastError, s.lastErrorAt = nil, time.Time{}
	if s.started.IsZero() {
		s.started = time.Now()
	}
	for i := range s.parts {
		s.parts[i].notServed = time.Time{}
	}
}

// stopped takes note of the end of a run: nothing is watched any more.
func (s *status) stopped() {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.parts {
		s.parts[i].watching, s.parts[i].progress = time.Time{}, Progress{}
	}
}

// bookmarkPeriod is how often an API server sends bookmarks, at least.
const bookmarkPeriod = time.Minute

// staleLocked tells whether a source is silent for too long. The caller holds mu.
func (s *status) staleLocked() bool {
	for _, p := range s.parts {
		heard, patience := p.confirmed, 2*bookmarkPeriod
		if p.lastBookmark.IsZero() {
			heard, patience = later(p.confirmed, p.opened), s.watchLasts
		}
		if !p.confirmed.IsZero() && time.Since(heard) > patience {
			return true
		}
	}
	return false
}

// synced takes note that the store is complete, once.
func (s *status) synced() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.syncTook = time.Since(s.started)
}

// watchesAll tells whether all sources are being watched.
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

// fill puts what is known into a Status.
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
	for _, note := range s.notes {
		if note != "" {
			to.Notes = append(to.Notes, note)
		}
	}
	to.Watching = true
	for i, p := range s.parts {
		to.Watching = to.Watching && !p.watching.IsZero()
		to.WatchingSince = later(to.WatchingSince, p.watching)
		if to.NotServedSince.IsZero() || !p.notServed.IsZero() && p.notServed.Before(to.NotServedSince) {
			to.NotServedSince = p.notServed
		}
		to.Progress.add(p.progress)
		to.LastEvent = later(to.LastEvent, p.lastEvent)
		to.LastBookmark = later(to.LastBookmark, p.lastBookmark)
		if i == 0 || p.confirmed.Before(to.Confirmed) {
			to.Confirmed = p.confirmed
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

// fillTotals puts the totals of what the reflectors have told into others. The caller holds
// mu.
func (s *status) fillTotals(to *Totals) {
	to.Lists, to.Streams, to.Watches = s.totals.Lists, s.totals.Streams, s.totals.Watches
	to.Relists, to.Errors = maps.Clone(s.totals.Relists), maps.Clone(s.totals.Errors)
	to.Waits, to.Waited = s.totals.Waits, s.totals.Waited
}

// add adds the progress of another source. How many remain is known only where it is of all.
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

// Status tells how the informer is doing. Safe for any goroutine.
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
	c.tally.fill(&st.Totals)
	st.Totals.Shared = c.sharing.table.Stats().Found
	st.Handlers = c.processor.status()
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
