package engine

import (
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
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
	// lists it again and again. It is zero if the resource is served. With several sources it is the
	// earliest time.
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
	Quarantined int // objects that cannot be decoded or transformed
	Unindexed   int // objects on which an index function fails, counted for each index
	// UnindexedErrors name some of these objects, and their indexes.
	UnindexedErrors []*indexer.IndexError
	Relists         int   // full states after the first
	Errors          int   // failed lists and watches
	LastError       error // or that of a function that has ended the run, or in the constructor's arguments
	LastErrorAt     time.Time
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

	// SyncTook is the time from Run until the store was complete, zero before that.
	SyncTook time.Duration
	// Totals count events since the informer was made.
	Totals Totals
	// Progress describes the full state being read.
	Progress Progress
	// RecentErrors are the last errors of lists and watches, at most 16, the newest last. Of the others only the text is
	// kept.
	RecentErrors []RecentError

	OwnWrites OwnWrites

	Storage StorageStatus

	Shard ShardStatus

	Handlers []HandlerStatus
}

// Totals count the events of an informer. No total ever goes down. A full state that was begun and
// not completed counts only as an error.
type Totals struct {
	// Lists and Streams count the full states read by a list and by a stream. Watches counts the
	// watches that the server has accepted, including streams that continued as a watch.
	Lists, Streams, Watches int
	// Relists counts the full states of each cause. The first full state of each source
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
	// Failures counts the changes on which the handler panicked.
	Failures int
	// Told counts the events delivered, including resyncs and the initial state.
	Told uint64
}

// Status returns the state of the informer. Any goroutine may call it.
func (c *Core) Status() Status {
	c.mu.Lock()
	phase := c.phase
	c.mu.Unlock()
	x := c.writer.Indexer()
	st := c.status.recorded()
	st.Name, st.Running, st.Stopped = c.options.Name, phase != created && !closed(c.returned), phase == stopped
	st.Synced, st.Version, st.Objects = c.IsSynced(), x.Version(), x.Len()
	st.Unindexed, st.UnindexedErrors = c.writer.Unindexed()
	st.Stale = st.Stale && st.Running
	if c.misuse != nil {
		st.LastError = c.misuse
	}
	st.Totals.Added, st.Totals.Updated = c.tally.of(eventlog.Added), c.tally.of(eventlog.Updated)
	st.Totals.Deleted, st.Totals.Bookmarks = c.tally.of(eventlog.Deleted), c.tally.of(bookmarks)
	st.OwnWrites, st.Storage, st.Shard = c.written.status(), c.storageStatus(), c.shardStatus()
	st.Totals.Shared = c.values.Stats().Found
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
