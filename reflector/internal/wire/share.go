package wire

import (
	"sync/atomic"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Progress is the type of an event that represents the foreign events at the end of a batch. A batch
// that ends with another event has none. Its ID has the version of the last foreign event, or "" if
// that proves no progress.
const Progress watch.EventType = "PROGRESS"

// IsProgress reports whether the event represents foreign events. If a server sends an event of
// this type, it has an object or was not read here.
func (a *Received) IsProgress() bool { return a.Type == Progress && a.ReadHere && a.Size == 0 }

// Share is the part of the objects to read. The others are foreign.
type Share struct {
	Set shard.Set
	// Dropped counts the foreign items and events.
	Dropped atomic.Uint64
}

// Drop counts an item or an event if its object is foreign.
func (s *Share) Drop(namespace string, uid types.UID) (foreign bool) {
	if s.Set.Has(namespace, uid) {
		return false
	}
	s.Dropped.Add(1)
	return true
}

// drop is Drop for an encoded object. It decodes nothing: an object whose field cannot be read does
// not count as foreign until it is decoded. The version is valid as long as the data.
func (s *Share) drop(f format, data []byte) (version []byte, foreign bool) {
	byUID := s.Set.Field() == shard.ByUID
	value, version, ok := readMeta(f, data, byUID)
	if !ok {
		return nil, false
	}
	text := unsafe.String(unsafe.SliceData(value), len(value)) // a copy would be allocated
	if byUID {
		return version, s.Drop("", types.UID(text))
	}
	return version, s.Drop(text, "")
}

// readMeta reads the uid or the namespace of an object, and its version.
func readMeta(f format, data []byte, uid bool) (value, version []byte, ok bool) {
	name, number := "namespace", uint8(metaNamespace)
	if uid {
		name, number = "uid", metaUID
	}
	if f == formatProtobuf {
		return protodecode.ReadMeta(data, number)
	}
	return jsondecode.ReadMeta(data, name)
}

// drops drops an item if its object is foreign. The version of a foreign event follows the batch,
// if the server sends the event in order.
func (r *Reception) drops(it item) bool {
	switch it.event {
	case watch.Added, watch.Modified, watch.Deleted:
		if version, foreign := r.Share.drop(it.format, it.data); foreign {
			r.passedBy(it.event, version)
			return true
		}
	}
	r.dropped = 0
	return false
}

// passedBy records a foreign event.
func (r *Reception) passedBy(event watch.EventType, version []byte) {
	if r.list {
		return
	}
	r.dropped++
	r.version = r.version[:0]
	if event != watch.Added || !r.begins() {
		r.version = append(r.version, version...)
	}
}

// tellDropped adds a Progress event for foreign events after the batch.
func (r *Reception) tellDropped() {
	if r.dropped > 0 {
		r.dropped = 0
		r.batch = append(r.batch, Received{Event: watch.Event{Type: Progress}, ReadHere: true, ID: object.Identity{Version: string(r.version)}})
	}
}
