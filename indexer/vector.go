package indexer

import (
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits
)

// chunk is a run of up to chunkSize objects in their stored form. Only the last chunk of a
// vector is shorter, and grows as needed.
type chunk struct {
	objects column // not overwritten after a snapshot shares the chunk
	// owners are the records of the objects. Guarded by the indexer's mu. Invariant: len(owners) ==
	// objects.len() in a live chunk. A chunk that only snapshots use has no owners, because a
	// snapshot must not keep records in memory.
	owners     []*record
	generation uint64
}

// vector is a dense list of objects in no particular order, with copy-on-write snapshots: a
// snapshot shares the chunks, and the writer copies a shared chunk once, before it first writes to
// it.
//
// Invariant: the writer may write to a chunk only while chunk.generation == vector.generation,
// and every snapshot raises the vector's generation before the next write.
type vector struct {
	// cached is the current snapshot; nil after a write.
	cached atomic.Pointer[Snapshot[any]]
	size   atomic.Int64

	// Guarded by the indexer's mu.
	chunks     []*chunk
	generation uint64

	index *index // the list's index; nil for the list of all objects
}

// snapshot returns a snapshot of the vector and caches it until the next write. The caller holds
// the indexer's mu.
func (v *vector) snapshot() *Snapshot[any] {
	if s := v.cached.Load(); s != nil {
		return s
	}
	s := &Snapshot[any]{chunks: v.chunks, size: v.len()}
	v.cached.Store(s)
	return s
}

// snapshotUncached is snapshot without the cache: other readers still wait for the end of the write
// section. The caller holds the indexer's mu.
func (v *vector) snapshotUncached() *Snapshot[any] {
	if s := v.cached.Load(); s != nil {
		return s
	}
	s := &Snapshot[any]{chunks: v.chunks, size: v.len()}
	v.copyDirectory()
	return s
}

func (v *vector) len() int { return int(v.size.Load()) }

// unshare gives the writer a directory of chunks of its own, if a snapshot shares it.
func (v *vector) unshare() {
	if v.cached.Load() == nil {
		return
	}
	v.cached.Store(nil)
	v.copyDirectory()
}

// copyDirectory leaves the present directory and its chunks to snapshots.
func (v *vector) copyDirectory() {
	v.generation++
	chunks := make([]*chunk, len(v.chunks), len(v.chunks)+1)
	copy(chunks, v.chunks)
	v.chunks = chunks
}

// writable returns chunk i for writing; it copies the chunk first if a snapshot shares it.
func (v *vector) writable(i int) *chunk {
	v.unshare()
	c := v.chunks[i]
	if c.generation == v.generation {
		return c
	}
	mine := &chunk{objects: c.objects.clone(), owners: c.owners, generation: v.generation}
	c.owners = nil
	v.chunks[i] = mine
	return mine
}

// add appends an object and returns its position.
func (v *vector) add(obj any, owner *record) uint32 {
	at := v.len()
	if at == len(v.chunks)*chunkSize {
		v.unshare()
		v.chunks = append(v.chunks, v.newChunk())
	}
	c := v.writable(at >> chunkBits)
	c.objects.add(obj)
	c.owners = append(c.owners, owner)
	v.size.Store(int64(at + 1))
	return uint32(at) //nolint:gosec // 4 billion objects do not fit in memory
}

// disown releases the records. The writer never writes to the vector again.
func (v *vector) disown() {
	for _, c := range v.chunks {
		c.owners = nil
	}
}

// newChunk makes a small chunk for a short vector, so that an index value with one object costs
// little.
func (v *vector) newChunk() *chunk {
	c := &chunk{generation: v.generation}
	if len(v.chunks) > 0 {
		c.objects.words = make([]unsafe.Pointer, 0, chunkSize)
		c.owners = make([]*record, 0, chunkSize)
	}
	return c
}

// set replaces the object at a position, and returns the old one.
func (v *vector) set(at uint32, obj any) (old any) {
	return v.writable(int(at>>chunkBits)).objects.set(int(at%chunkSize), obj)
}

// setOwner replaces the record of the object at a position.
func (v *vector) setOwner(at uint32, owner *record) {
	v.chunks[at>>chunkBits].owners[at%chunkSize] = owner
}

// owner returns the record of the object at a position.
func (v *vector) owner(at uint32) *record {
	return v.chunks[at>>chunkBits].owners[at%chunkSize]
}

// remove deletes the object at a position by moving the last object there. It returns the
// record of the moved object, or nil if none moved.
func (v *vector) remove(at uint32) (moved *record) {
	last := v.len() - 1
	c := v.writable(last >> chunkBits)
	end := last % chunkSize
	if int(at) != last {
		moved = c.owners[end]
		v.set(at, c.objects.at(end))
		v.setOwner(at, moved)
	}
	c.objects.pop()
	c.owners[end] = nil
	c.owners = c.owners[:end]
	if end == 0 {
		v.chunks[len(v.chunks)-1] = nil
		v.chunks = v.chunks[:len(v.chunks)-1]
	}
	v.size.Store(int64(last))
	return moved
}

// keys returns copies of the objects' keys. The caller holds the indexer's mu.
func (v *vector) keys() []Key { return v.appendKeys(make([]Key, 0, v.len())) }

// appendKeys appends copies of the objects' keys. The caller holds the indexer's mu.
func (v *vector) appendKeys(keys []Key) []Key {
	for _, c := range v.chunks {
		keys = c.appendKeys(keys)
	}
	return keys
}

// appendKeys appends copies of the objects' keys. The names share one string.
func (c *chunk) appendKeys(keys []Key) []Key {
	size := 0
	for _, r := range c.owners {
		size += len(r.name())
	}
	var names strings.Builder
	names.Grow(size)
	for _, r := range c.owners {
		at := names.Len()
		names.WriteString(r.name())
		keys = append(keys, Key{r.namespace.Value(), names.String()[at:]})
	}
	return keys
}

// records calls yield for the record of each object. The caller holds the indexer's writing or
// its mu.
func (v *vector) records(yield func(*record) bool) {
	for _, c := range v.chunks {
		for _, r := range c.owners {
			if !yield(r) {
				return
			}
		}
	}
}

// column holds the objects of a chunk in their stored form. Nearly all columns have objects of one
// type. They store the type once, and for each object one word instead of an interface's two. A column
// with objects of several types is mixed.
//
// Invariant: in a mixed column each word points to an interface value. In any other column kind
// and each word are the two words of an interface value, see halves.
type column struct {
	kind  unsafe.Pointer
	words []unsafe.Pointer
}

// mixed is the kind of a mixed column. No type is at its address.
var mixed = unsafe.Pointer(new(int))

func (c *column) len() int { return len(c.words) }

// at returns the object at a position.
func (c *column) at(i int) (obj any) {
	if c.kind == mixed {
		return *(*any)(c.words[i])
	}
	w := (*halves)(unsafe.Pointer(&obj))
	w.kind, w.data = c.kind, c.words[i]
	return obj
}

// appendTo appends the objects to dst.
func (c *column) appendTo(dst []any) []any {
	if c.kind == mixed {
		for _, w := range c.words {
			dst = append(dst, *(*any)(w))
		}
		return dst
	}
	size := len(dst)
	dst = slices.Grow(dst, len(c.words))[:size+len(c.words)]
	room := unsafe.Slice((*halves)(unsafe.Pointer(unsafe.SliceData(dst[size:]))), len(c.words))
	for i, w := range c.words {
		room[i] = halves{c.kind, w}
	}
	return dst
}

// add appends an object.
func (c *column) add(obj any) {
	if len(c.words) == 0 {
		c.kind = slotOf(obj).kind
	}
	c.words = append(c.words, c.word(obj))
}

// set replaces the object at a position, and returns the old one.
func (c *column) set(i int, obj any) (old any) {
	old = c.at(i)
	c.words[i] = c.word(obj)
	return old
}

// word returns the word for an object. It makes the column mixed if the object's type differs from
// the others'.
func (c *column) word(obj any) unsafe.Pointer {
	if s := slotOf(obj); s.kind == c.kind {
		return s.data
	}
	c.mix()
	return boxed(obj)
}

// mix makes the column mixed.
func (c *column) mix() {
	if c.kind == mixed {
		return
	}
	for i := range c.words {
		c.words[i] = boxed(c.at(i))
	}
	c.kind = mixed
}

// boxed returns a pointer to an interface value.
func boxed(obj any) unsafe.Pointer { return unsafe.Pointer(&obj) }

// pop removes the last object.
func (c *column) pop() {
	end := len(c.words) - 1
	c.words[end] = nil
	c.words = c.words[:end]
}

// clone returns a copy with the same capacity.
func (c *column) clone() column {
	words := make([]unsafe.Pointer, len(c.words), cap(c.words))
	copy(words, c.words)
	return column{c.kind, words}
}

// pointers returns the column's memory as a slice of T, if T is a pointer type and the type of all
// objects. A pointer is the second word of its interface value.
func pointers[T any](c *column) ([]T, bool) {
	var nothing T
	if c.kind != slotOf(nothing).kind || reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return nil, false
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.words))), len(c.words)), true
}
