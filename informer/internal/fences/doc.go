// Package fences has the rules for a program's own writes: the store of an informer shows a write before the
// watch delivers it, and does not go back to an older state that the watch delivers late.
//
// The answer to a write is put into the store, and sets a fence for its key. The fence keeps back states that
// are older than the answer, and remembers the newest of them, which is what the watch alone would show. The
// fence ends with the event of the write (the echo), with anything newer, or with a version that proves that
// no echo will come. In the last case, the store gets what the watch alone would show. The fence of a
// deletion at an unknown version ends with its event, with another object of that name, with a full state
// that lacks the object, or after ten minutes.
//
// # Guarantees
//
// The rules are pure: they use no store, log or clock. The processLoop passes in what the store holds, what
// the source has sent, and the time. Each method returns a [Verdict], which the processLoop carries out. One
// goroutine uses the fences of a source.
//
// A fence counts only while the store holds what the fence has put there. If a program puts an object by
// hand, the fence is void at the next input for the key.
package fences
