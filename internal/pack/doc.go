// Package pack stores objects in few bytes, and keeps some of them decoded as well.
//
// A [Kind] packs an object: it stores the difference between the object's encoded bytes and those of a similar
// object, its base. The base belongs to the same family: the objects of one namespace whose names are equal up to
// the last part, such as the pods of a workload. The first object of a family becomes the base of the objects that
// follow. It usually has no base itself. It is packed against the kind's dictionary, which contains the bytes of a
// few objects.
//
// Objects change over months, so the dictionary must change too. When it is full and lacks bytes that recur, the
// kind begins a new dictionary for objects that are packed later. Earlier objects stay as they are until they
// change.
//
// A store holds objects as [Object] values. An object is hot while it also has its decoded form, and a [Budget]
// bounds the memory of hot objects. An object is pinned if it has no bytes, or if its bytes decode to a different
// object. A pinned object stays decoded, outside of any budget.
//
// The package does not know the encoding: a kind has functions that decode bytes. Each informer has one kind. It
// packs the server's bytes on arrival, and decodes them for readers and handlers.
//
// # Guarantees
//
// Exactness. An object unpacks to the bytes that were packed. Blobs and the bytes in a dictionary never change. The
// package never encodes an object that the program has. With TIDEMARK_VERIFY=1, each object that is packed is
// unpacked and compared, and each object that becomes hot is decoded again and compared.
//
// Identity. All readers of a hot object get the same pointer. After the object has become cold, readers get
// another one.
//
// Safety. Damaged blobs produce wrong bytes or errors, but no panics, and no allocation above 16 times the bytes
// read. Objects that are crafted to flood the tables only make other objects larger.
//
// Bounds. A kind has a dictionary of at most 64 KiB, and at most 1 MiB of earlier ones: it begins no other while
// they take that. It also has 1 MiB of unpacked bases with indexes, about 400 KiB for packing, and 2^18 families. It
// removes families without a base. A base or an earlier dictionary lives as long as objects refer to it. Objects
// above 64 KiB are not bases, and objects above 256 MiB are not packed. Hot objects take at most the budget, plus
// one object for each goroutine that decodes. A budget keeps no object alive: an object that nothing else refers to
// leaves the budget, even if there is room.
//
// Cost. If 60 objects of a family in a row have little in common with its base, the next 240 are stored as raw
// bytes, and then 15 are tried. The same applies to objects without a base. Packing allocates the object and its
// blob. Unpacking allocates nothing, unless it adds a base to the cache.
//
// Concurrency. Any goroutine may call any method. A kind packs one object at a time. Readers and [Kind.Count] do not
// wait for packing. Readers wait for each other while they make an object hot. The package holds no lock when it
// calls a function of a kind.
package pack
