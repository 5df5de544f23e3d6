// Package pack holds objects in few bytes, and some of them decoded as well.
//
// A [Kind] packs the encoded bytes of an object as their difference to those of a similar one, its
// base. The base is of the same family: objects of one namespace whose names are the same up to the last
// part, such as the pods of a workload. The first object of a family has no base. It is packed as the
// difference to the kind's dictionary, which holds the bytes of some objects, and the objects of the
// family that follow have it as their base.
//
// Objects change over months, and the dictionary with them. When it is full and lacks what recurs, the kind begins
// another one. What is packed from then on uses the new dictionary, and [Kind.Sweep] packs stored objects
// anew, in place. Only objects without a base have to be: a base undoes to the same bytes as before, so that
// nothing changes for the objects that refer to it.
//
// An [Object] is what a store holds. It is hot while it has its decoded form too, and a [Budget] bounds
// how much is hot. An object that has no bytes, or whose bytes decode to something else, is pinned:
// held decoded, outside of any budget.
//
// The package does not know how objects are encoded: functions of the kind read the bytes. An informer has a
// kind, and its store holds objects of it: they are packed where the server's bytes arrive, and decoded for
// readers and handlers.
//
// # Guarantees
//
// Exactness. An object undoes to the bytes that were packed. A blob and what is written of a dictionary never
// change. A sweep replaces a blob and its dictionary, and readers get both from before or both from afterwards.
// Nothing is read of an object that a program has got. With TIDEMARK_VERIFY=1, what has been packed is undone
// and compared, and what becomes hot is decoded again.
//
// Identity. All who read a hot object get the same one. When it is not hot any more, others get another.
//
// Safety. Of a damaged blob come other bytes or an error, but no panic, and no allocation above 16
// times the bytes that were read. Objects made to flood the tables make others larger, and no more.
//
// Bounds. A kind has a dictionary of at most 64 KiB, and earlier ones until sweeps have visited all their objects. It
// has 1 MiB of bases that are kept undone, with indexes, some 400 KiB for packing, and 2^18 families. Families
// without a base are removed. A base or an earlier dictionary lives as long as objects refer to it. Objects above 64 KiB are no bases, and those above 256 MiB
// are not packed. Hot objects take no more than the budget, and one for each goroutine that decodes. A budget
// keeps no object alive: however much room it has, what nobody else holds leaves it.
//
// Cost. If 60 objects of a family in a row have little in common with its base, the next 240 are kept as they
// are, and then 15 are tried. The same holds for the objects without a base, and a sweep tries those again that were
// not tried. Packing an object allocates it and its blob, and undoing it nothing, unless a base comes into use.
// A sweep takes a tenth of a processor at most, about a second of it for 100,000 objects without a base.
//
// Concurrency. Any goroutine may call any method, but one at a time calls Sweep. A kind packs one object after
// another. Neither readers nor [Kind.Count] wait for that. Readers wait for each other while they make an object hot. No
// function of a kind is called under a lock.
package pack
