package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// MaxQuarantined is the highest number of quarantined objects whose errors are kept.
const MaxQuarantined = 100

// quarantine holds the quarantined objects of all sources for other goroutines. A wait for such an object has
// to fail, and the inspector shows the errors.
type quarantine struct {
	mu sync.Mutex
	// times counts how often a key is quarantined: several sources may hold it, and one source twice while a
	// replacement is in progress.
	times   map[indexer.Key]int
	objects map[indexer.Key]QuarantinedObject // at most MaxQuarantined of them
}

// QuarantinedObject is an object that could not be decoded or transformed.
type QuarantinedObject struct {
	Key   indexer.Key
	Since time.Time
	Err   error
}

// holds reports whether the object of a key is quarantined.
func (q *quarantine) holds(key indexer.Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.times[key] > 0
}

// add adds times to the count of a key, and keeps the error of its object if there is room.
func (q *quarantine) add(key indexer.Key, times int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.times == nil {
		q.times, q.objects = make(map[indexer.Key]int), make(map[indexer.Key]QuarantinedObject)
	}
	q.times[key] += times
	object, known := q.objects[key]
	if !known {
		object.Key, object.Since = key, time.Now()
	}
	object.Err = err
	if known || len(q.objects) < MaxQuarantined {
		q.objects[key] = object
	}
}

// remove subtracts one from the count of a key.
func (q *quarantine) remove(key indexer.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.times[key]--; q.times[key] == 0 {
		delete(q.times, key)
		delete(q.objects, key)
	}
}

// all returns the quarantined objects whose errors are kept, the oldest first.
func (q *quarantine) all() []QuarantinedObject {
	q.mu.Lock()
	defer q.mu.Unlock()

	return slices.SortedFunc(maps.Values(q.objects), func(a, b QuarantinedObject) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	})
}

// enter records that the object of a key could not be prepared. It returns true if the object was not
// quarantined.
func (q *quarantine) enter(in *exceptions, key indexer.Key, err error) (entered bool) {
	if in.hasFailed(key) {
		q.add(key, 0, err)
		return false
	}
	q.add(key, 1, err)
	if in.failed == nil {
		in.failed = make(map[indexer.Key]struct{})
	}
	in.failed[key] = struct{}{}
	return true
}

// leave ends the quarantine of an object. It returns true if the object was quarantined.
func (q *quarantine) leave(in *exceptions, key indexer.Key) (left bool) {
	if !in.hasFailed(key) {
		return false
	}
	q.remove(key)
	delete(in.failed, key)
	return true
}

// leaveAll is leave for all objects.
func (q *quarantine) leaveAll(in *exceptions) {
	for key := range in.failed {
		q.leave(in, key)
	}
}
