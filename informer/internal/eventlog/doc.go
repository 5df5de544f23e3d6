// Package eventlog holds the changes of a store on their way to its handlers: a log
// that every handler reads at its own place, and a table that merges what a lagging
// one still has to be told.
//
// One goroutine appends to a [Log], in write sections of the store, and publishes at
// the end of each. A [Cursor] is a place in it, from which its owner takes events in
// a [Batch], or merges them into a [Coalesced]. Nobody holds a lock for another: what
// is published never changes, but for being cleared when all have read it.
//
// The log is a linked list of segments. What every cursor has passed is garbage by
// itself. So a cursor alone holds on to a segment, and who drops a cursor drops all
// that follows it.
//
// # Recreated objects
//
// An object that comes back as another one, with another UID, is two events of one
// write section: Deleted, marked [Lost] and [Recreated], and Added, marked
// [Recreated], with the former object as old. Handlers that know of no such thing
// skip the first, and take the second for an update.
package eventlog
