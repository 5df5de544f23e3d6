// Package fences has the rules by which the store of an informer shows what the program itself has
// written before the watch brings it, and does not go back to what the watch brings late.
//
// The answer to a write is put into the store, and a fence is set for its key. The fence keeps back what
// is older than the answer, and remembers it: that is what the watch alone would show. It ends with the
// event of the write (the echo), with anything newer, or with the version that proves that no echo comes;
// then the store gets what the watch alone would show. A deletion at an unknown version ends with its event, with
// another object of the name, with a full state that lacks the object, or after ten minutes.
//
// # Guarantees
//
// The rules are pure: they have no store, no log and no clock. The processLoop passes in what the store
// holds, what the source has sent, and the time; each method returns a [Verdict], and the processLoop carries
// it out. One goroutine uses the fences of a source.
//
// A fence counts only while the store holds what it has put there. If a user has put an object by hand, the
// fence is void at the next input of the key.
package fences
