// Package share stores equal values once.
//
// A [Table] belongs to the objects of one kind. Before a decoder decodes a nested value, it asks
// the table for the value of equal bytes. If there is one, the object gets the same Go value, and
// nothing is decoded or allocated.
//
// # Guarantees
//
// Safety. The table finds a value by a copy of its encoded bytes, and never reads the value
// itself. A program that wrongly writes into a cached object changes all objects that share the
// value, but cannot crash the library. Decoders decide which values may be shared.
//
// Bounds. A table holds at most its limit of bytes, an eighth of it in strings, and slots for
// them. A value is kept when it occurs the second time, and shared from the third time on: a
// value that occurs once costs a few bytes. Used values stay, and unused ones make room. One
// object adds a few hundred values at most, and a bounded number of its bytes is hashed: an
// object made to flood the table only makes others share less.
//
// Cost. A gauge for each field stops look-ups that do not pay. It goes on with samples, and so
// notices when they begin to pay.
//
// Concurrency. A decoder locks the table for the decoding of one object. A nil *Table shares
// nothing.
package share
