package indexer

import (
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
	objects column // not overwritten once a snapshot shares the chunk
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
