package indexer

import (
	"strings"
	"sync/atomic"
)

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits
)

// chunk is a run of up to chunkSize objects, as they are stored. Only the last chunk of a vector
// is shorter, and grows as needed.
type chunk struct {
	objects []any // never changed once a snapshot holds the chunk
	// owners are the records of the objects. Guarded by the indexer's mu.
	// Invariant: len(owners) == len(objects), except in a chunk that is not live
	// any more, which has none: a snapshot should not keep records alive.
	owners []*record
	epoch  uint64
}

// vector is a dense list of objects in no promised order. Snapshots of it are
// frozen by sharing its chunks; the writer copies a shared chunk once, when it
// first writes to it.
//
// Invariant: a chunk may be written to only while chunk.epoch == vector.epoch,
// and every snapshot taken raises the vector's epoch before the next write.
type vector struct {
	// frozen is the snapshot that holds as long as nobody writes.
	frozen atomic.Pointer[Snapshot[any]]
	size   atomic.Int64

	// Guarded by the indexer's mu.
	chunks []*chunk
	epoch  uint64

	index *index // whose list this is; nil for the list of all objects
}

// freeze returns the vector as it is. The caller holds the indexer's mu.
func (v *vector) freeze() *Snapshot[any] {
	if s := v.frozen.Load(); s != nil {
		return s
	}
	s := &Snapshot[any]{chunks: v.chunks, size: v.len()}
	v.frozen.Store(s)
	return s
}

// copied returns the vector as it is, to the caller alone: others go on to wait for
// the end of the write section. The caller holds the indexer's mu.
func (v *vector) copied() *Snapshot[any] {
	if s := v.frozen.Load(); s != nil {
		return s
	}
	s := &Snapshot[any]{chunks: v.chunks, size: v.len()}
	v.unshare()
	return s
}

func (v *vector) len() int { return int(v.size.Load()) }

// thaw makes the directory of chunks the writer's own again.
func (v *vector) thaw() {
	if v.frozen.Load() == nil {
		return
	}
	v.frozen.Store(nil)
	v.unshare()
}

// unshare leaves the present chunks and their directory to snapshots.
func (v *vector) unshare() {
	v.epoch++
	chunks := make([]*chunk, len(v.chunks), len(v.chunks)+1)
	copy(chunks, v.chunks)
	v.chunks = chunks
}

// own returns chunk i, copied if a snapshot shares it.
func (v *vector) own(i int) *chunk {
	v.thaw()
	c := v.chunks[i]
	if c.epoch == v.epoch {
		return c
	}
	mine := &chunk{objects: make([]any, len(c.objects), cap(c.objects)), owners: c.owners, epoch: v.epoch}
	copy(mine.objects, c.objects)
	c.owners = nil
	v.chunks[i] = mine
	return mine
}

// add appends obj and returns its position.
func (v *vector) add(obj any, owner *record) uint32 {
	at := v.len()
	if at == len(v.chunks)*chunkSize {
		v.thaw()
		v.chunks = append(v.chunks, v.newChunk())
	}
	c := v.own(at >> chunkBits)
	c.objects = append(c.objects, obj)
	c.owners = append(c.owners, owner)
	v.size.Store(int64(at + 1))
	return uint32(at) //nolint:gosec // 4 billion objects do not fit in memory
}

// disown lets go of the records. The vector is not written to any more.
func (v *vector) disown() {
	for _, c := range v.chunks {
		c.owners = nil
	}
}

// newChunk starts small in a short vector, so that an index value with one
// object costs little.
func (v *vector) newChunk() *chunk {
	c := &chunk{epoch: v.epoch}
	if len(v.chunks) > 0 {
		c.objects = make([]any, 0, chunkSize)
		c.owners = make([]*record, 0, chunkSize)
	}
	return c
}

// set replaces the object at a position, and returns it.
func (v *vector) set(at uint32, obj any) (old any) {
	c := v.own(int(at >> chunkBits))
	old, c.objects[at%chunkSize] = c.objects[at%chunkSize], obj
	return old
}

// setOwner replaces the record of the object at a position.
func (v *vector) setOwner(at uint32, owner *record) {
	v.chunks[at>>chunkBits].owners[at%chunkSize] = owner
}

// owner returns the record of the object at a position.
func (v *vector) owner(at uint32) *record {
	return v.chunks[at>>chunkBits].owners[at%chunkSize]
}

// remove takes the object at a position out by moving the last one there. It
// returns the record of the one that moved, or nil if there was none to move.
func (v *vector) remove(at uint32) (moved *record) {
	last := v.len() - 1
	c := v.own(last >> chunkBits)
	end := last % chunkSize
	if int(at) != last {
		moved = c.owners[end]
		v.set(at, c.objects[end])
		v.setOwner(at, moved)
	}
	c.objects[end], c.owners[end] = nil, nil
	c.objects, c.owners = c.objects[:end], c.owners[:end]
	if end == 0 {
		v.chunks[len(v.chunks)-1] = nil
		v.chunks = v.chunks[:len(v.chunks)-1]
	}
	v.size.Store(int64(last))
	return moved
}

// keys returns the keys of the objects. The caller holds the indexer's mu.
func (v *vector) keys() []Key {
	keys := make([]Key, 0, v.len())
	for _, c := range v.chunks {
		keys = c.appendKeys(keys)
	}
	return keys
}

// appendKeys appends the keys of the objects. Their names share one string.
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

// records calls yield for the record of each object. The caller holds the
// indexer's writing or its mu.
func (v *vector) records(yield func(*record) bool) {
	for _, c := range v.chunks {
		for _, r := range c.owners {
			if !yield(r) {
				return
			}
		}
	}
}
