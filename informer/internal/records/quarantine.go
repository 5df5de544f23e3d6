package records

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// MaxQuarantined is the number of quarantined objects whose errors are kept.
const MaxQuarantined = 100

// Quarantine holds the quarantined objects of all sources for other goroutines: a wait for such an
// object has to fail, and the inspector shows the errors.
type Quarantine struct {
	mu       sync.Mutex
	versions map[string]countedVersion
	objects  map[indexer.Key]countedObject // at most MaxQuarantined
}

// QuarantinedObject is an object that could not be prepared.
type QuarantinedObject struct {
	Key   indexer.Key
	Since time.Time
	Err   error
}

// countedObject is the entry of a key. It counts how often the key is quarantined: several
// sources may hold it, and one source twice while a replacement is under way.
type countedObject struct {
	QuarantinedObject
	times int
}

// countedVersion is the entry of a version. It counts like countedObject.
type countedVersion struct {
	key   indexer.Key
	times int
}

// Holds reports whether the object of a key is quarantined, at whatever version.
func (q *Quarantine) Holds(key indexer.Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()

	for _, v := range q.versions {
		if v.key == key {
			return true
		}
	}
	return false
}

// add counts a key that enters a quarantine.
func (q *Quarantine) add(key indexer.Key, version string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.addVersion(key, version)
	object, known := q.objects[key]
	object.times++
	q.keep(key, object, known, err)
}

// fail records another failure of a key that is in the quarantine, at the same version or another.
func (q *Quarantine) fail(key indexer.Key, was, version string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.addVersion(key, version)
	q.removeVersion(was)
	object, known := q.objects[key]
	object.times = max(1, object.times)
	q.keep(key, object, known, err)
}

// keep stores the entry of a key, if the key has one already or there is room. The caller holds mu.
func (q *Quarantine) keep(key indexer.Key, object countedObject, known bool, err error) {
	if !known {
		object.Key, object.Since = key, time.Now()
	}
	object.Err = err
	if known || len(q.objects) < MaxQuarantined {
		q.objects[key] = object
	}
}

// addVersion counts a version. The caller holds mu.
func (q *Quarantine) addVersion(key indexer.Key, version string) {
	if q.versions == nil {
		q.versions, q.objects = make(map[string]countedVersion), make(map[indexer.Key]countedObject)
	}
	if version != "" {
		q.versions[version] = countedVersion{key, q.versions[version].times + 1}
	}
}

// remove counts a key that leaves a quarantine.
func (q *Quarantine) remove(key indexer.Key, version string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if object, ok := q.objects[key]; ok {
		if object.times--; object.times > 0 {
			q.objects[key] = object
		} else {
			delete(q.objects, key)
		}
	}
	q.removeVersion(version)
}

// removeVersion is the opposite of addVersion. The caller holds mu.
func (q *Quarantine) removeVersion(version string) {
	found := q.versions[version]
	if found.times--; found.times > 0 {
		q.versions[version] = found
	} else {
		delete(q.versions, version)
	}
}

// All returns the quarantined objects whose errors are kept, in the order in which they were
// quarantined.
func (q *Quarantine) All() []QuarantinedObject {
	q.mu.Lock()
	defer q.mu.Unlock()

	all := make([]QuarantinedObject, 0, len(q.objects))
	for _, object := range q.objects {
		all = append(all, object.QuarantinedObject)
	}
	slices.SortFunc(all, func(a, b QuarantinedObject) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	})
	return all
}

// Enter records that the object of a key could not be prepared at a version. It returns true if the object
// was not in the quarantine.
func (q *Quarantine) Enter(in *Exceptions, key indexer.Key, version string, err error) (entered bool) {
	was, again := in.failed[key]
	if again {
		q.fail(key, was, version, err)
	} else {
		q.add(key, version, err)
	}
	if in.failed == nil {
		in.failed = make(map[indexer.Key]string)
	}
	in.failed[key] = version
	return !again
}

// Leave ends the failure of an object. It returns true if there was one.
func (q *Quarantine) Leave(in *Exceptions, key indexer.Key) (left bool) {
	version, failed := in.failed[key]
	if failed {
		q.remove(key, version)
		delete(in.failed, key)
	}
	return failed
}

// LeaveAll is Leave for all objects.
func (q *Quarantine) LeaveAll(in *Exceptions) {
	for key := range in.failed {
		q.Leave(in, key)
	}
}
