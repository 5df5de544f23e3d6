// Package share stores equal values once.
//
// A [Table] belongs to the objects of one kind. Decoders ask it, before they
// decode a nested value, whether equal bytes were decoded before: then the
// object gets the same Go value, and nothing is decoded or allocated.
//
// # Guarantees
//
// Safety. The table knows a value by its encoded bytes, of which it keeps a
// copy, and never reads the value itself: a program that wrongly writes into a
// cached object hurts the objects that share the value, and cannot crash the
// library. Decoders decide what may be shared at all. [Table.Watch] is the
// exception: a table that watches its values reads them, to tell which of them a
// program has changed.
//
// Bounds. A table holds at most as many bytes as it was made for, an eighth of
// that in strings, and slots for them. A value is kept when it is seen a second
// time, so that values which never come again cost a few bytes; the third is
// the first that is shared. What is used stays, what is not used makes room. One
// object can bring in no more than a few hundred values, and has a bounded
// number of bytes hashed. So an object that somebody made to flood the table
// makes others share less, and nothing else.
//
// Cost. A gauge for each field stops the look-ups where they do not pay. It goes
// on to take samples, and notices when they begin to pay.
//
// Concurrency. Lock and Unlock surround the decoding of one object. A nil
// *Table shares nothing.
package share
