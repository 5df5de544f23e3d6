// Package eventlog carries the changes of a store to its handlers, in a log that every handler reads at its
// own pace, and in a table that merges the pending changes of a lagging handler.
//
// One goroutine appends to a [Log] in write sections of the store, and publishes at the end of each section.
// A [Cursor] is a position in the log. Its owner takes events from it in a [Batch], or merges them into a
// [Coalesced]. Readers and the writer share no lock: a published event never changes, except that its objects
// are cleared when all handlers have read it.
//
// The log is a linked list of segments. A segment becomes garbage when every cursor has passed it. Only
// cursors keep segments in memory, so dropping a cursor releases everything after it.
//
// # Recreated objects
//
// If an object is deleted and created again under its key, with another UID, the log has two events in one
// write section: Deleted, marked [Lost] and [Recreated], and Added, marked [Recreated], with the former
// object as old. A handler that does not distinguish the two objects skips the first event, and takes the
// second one as an update.
package eventlog
