package engine

import (
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Status is the state of an informer at one moment. Times are zero for events that have not happened yet.
type Status struct {
	Name    string
	Running bool // Run was called and has not returned
	Stopped bool // Run has returned, or is about to
	Synced  bool // the store was complete at least once

	// Watching reports whether the source is being watched, and WatchingSince is the time when that began.
	// With several sources, all have to be watched.
	Watching      bool
	WatchingSince time.Time
	// NotServedSince is the time since when the server has not served the resource, while the informer
	// repeats the list. It is zero if the server serves the resource. With several sources it is the earliest
	// time.
	NotServedSince time.Time
	LastEvent      time.Time // when the last change arrived
	// Confirmed is the time of the last answer of the server whose changes are in the store: the store was
	// current then. Staleness is the age of Confirmed, and zero before the first list.
	Confirmed time.Time
	Staleness time.Duration
	// Stale is true if the informer runs, and the store has got nothing from the server for longer than a
	// healthy server is silent. That is two minutes (two bookmark periods) or, if the source has sent no
	// bookmark, the longest duration of a watch since the last watch began. One silent source is enough. An
	// index function that does not return also makes an informer stale.
	Stale bool

	Version     string // the resourceVersion of the store
	Objects     int
	Quarantined int // objects that cannot be decoded or transformed
	Unindexed   int // objects on which an index function failed, counted for each index
	// UnindexedErrors name some of these objects and their indexes.
	UnindexedErrors []*indexer.IndexError
	Relists         int   // full states after the first
	Errors          int   // failed lists and watches
	LastError       error // of a list or watch, or the one that ended the run, or one in the constructor's arguments
	// Failing are the current errors of sources that cannot be read, at most one of each class: the last list
	// or watch of the source has failed, and none has succeeded since. RecentErrors also has the errors that
	// are over.
	Failing []RecentError
	// Notes name features that the source lacks and the informer works without: versions of full states, and
	// streams of the initial state. A note is not an error, and disappears if the source turns out to have
	// the feature.
	Notes []string

	// LeftOut counts objects and events that were left out because their type is not the informer's: in lists
	// and watches, and in results of the transform. The events [reflector.Skipped] and [QuarantineError] have
	// the errors.
	LeftOut int

	// SyncTook is the time from Run until the store was complete; zero before that.
	SyncTook time.Duration
	// Totals count events since the informer was made.
	Totals Totals
	// Progress describes the full state that is being read.
	Progress Progress
	// RecentErrors are the last errors of lists and watches, at most 16, the newest last. Only the newest is
	// kept whole; of the others, only the text.
	RecentErrors []RecentError

	OwnWrites OwnWrites

	Storage StorageStatus

	Shard ShardStatus

	Handlers []HandlerStatus
}

// Totals count the events of an informer. No total ever goes down. A full state that was not completed counts
// only as an error.
type Totals struct {
	// Lists and Streams count the full states read by a list and by a stream. Watches counts the watches that
	// the server accepted, including streams that continued as a watch.
	Lists, Streams, Watches int
	// Relists counts the full states by their causes. The first full state of each source counts as
	// [reflector.CauseStart]. Causes that did not occur are missing.
	Relists map[reflector.Cause]int
	// Errors counts the failed lists and watches by their classes. Classes that did not occur are missing.
	Errors map[reflector.ErrorClass]int
	// Waits counts the requests delayed after a failure, and Waited is the sum of the delays.
	Waits  int
	Waited time.Duration
	// Added, Updated and Deleted count changes, once for any number of handlers, without resyncs. The objects
	// of the first full state count as added, and a recreated object counts as deleted and added. Bookmarks
	// counts the received bookmarks.
	Added, Updated, Deleted, Bookmarks uint64
	// Shared counts the values that were not stored because another object had an equal value, see
	// [reflector.Decoding].
	Shared uint64
}

// Progress describes how much of a full state has been read.
type Progress struct {
	Since   time.Time // when it was requested; zero if no full state is being read
	Objects int       // objects read, of all sources
	// Remaining is the number of objects still to come according to the server; -1 if unknown.
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
	// Delivered counts the delivered events, including resyncs and the initial state.
	Delivered uint64
}

// Status returns the current state of the informer. It is safe for concurrent use.
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
