// Package share stores equal values once.
//
// A [Table] belongs to the objects of one kind. Before a decoder decodes a nested value, it looks up the
// encoded bytes in the table. If the table has a value for these bytes, the object gets this Go value,
// and nothing is decoded or allocated.
//
// # Guarantees
//
// Safety. The table finds a value by a copy of its encoded bytes, and never reads the value itself. A
// program that wrongly writes into a cached object changes all objects that share the value, but cannot
// crash the library. Decoders decide which values may be shared.
//
// Bounds. A table holds at most its limit of bytes, up to an eighth of it in strings, plus the slots for
// them. It stores a value when the value occurs for the second time, and shares it from the third time
// on. A value that occurs once costs only a few bytes. Used values stay, and unused values make room.
// One object adds at most a few hundred values, and only a limited number of its bytes is hashed. An
// object made to flood the table can only make other objects share less.
//
// Cost. Each field has a gauge, which stops look-ups that do not pay off. The gauge continues to look up
// samples, and notices when look-ups begin to pay off.
//
// Concurrency. A decoder locks the table while it decodes one object. A nil *Table shares nothing.
package share
