package informer

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// quarantine holds the objects of one source that could not be prepared: their keys, and the
// version at which the preparation failed. Only the processLoop uses it.
type quarantine map[indexer.Key]string

// maxQuarantined is the number of quarantined objects whose errors are kept.
const maxQuarantined = 100

// quarantined makes the quarantined objects of all parts known to other goroutines: a wait for the
// version of such an object has to fail, and the inspector shows the errors.
type quarantined struct {
	mu       sync.Mutex
	versions map[string]quarantinedAt
	objects  map[indexer.Key]quarantinedObject // at most maxQuarantined
}

// quarantinedObject is the entry of a key. It counts how often the key is quarantined: several
// parts may hold it, and one part twice while a replacement is under way.
type quarantinedObject struct {
	QuarantinedObject
	times int
}

// quarantinedAt is the entry of a version. It counts like quarantinedObject.
type quarantinedAt struct {
	key   indexer.Key
	times int
}

// at returns the key of the quarantined object of a version, if there is one.
func (q *quarantined) at(version string) (key indexer.Key, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	found, ok := q.versions[version]
	return found.key, ok
}

func (q *quarantined) add(key indexer.Key, version string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.versions == nil {
		q.versions, q.objects = make(map[string]quarantinedAt), make(map[indexer.Key]quarantinedObject)
	}
	if version != "" {
		q.versions[version] = quarantinedAt{key, q.versions[version].times + 1}
	}
	object, again := q.objects[key]
	if !again {
		object.Key, object.Since = key, time.Now()
	}
	object.Err = err
	if object.times++; again || len(q.objects) < maxQuarantined {
		q.objects[key] = object
	}
}

func (q *quarantined) remove(key indexer.Key, version string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if object, ok := q.objects[key]; ok {
		if object.times--; object.times > 0 {
			q.objects[key] = object
		} else {
			delete(q.objects, key)
		}
	}
	found := q.versions[version]
	if found.times--; found.times > 0 {
		q.versions[version] = found
	} else {
		delete(q.versions, version)
	}
}

// all returns the quarantined objects whose errors are kept, in the order in which they were
// quarantined.
func (q *quarantined) all() []QuarantinedObject {
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

// hold quarantines the object of a delta. A version stored before stays in the store.
func (c *core) hold(in *quarantine, d *deltafifo.Delta) {
	if *in == nil {
		*in = make(quarantine)
	}
	err, _ := d.Object.(error)
	c.quarantined.add(d.Key, d.Version, err) // before release, which would forget since when
	c.release(*in, d.Key)
	(*in)[d.Key] = d.Version
}

// release takes a key out of a quarantine.
func (c *core) release(from quarantine, key indexer.Key) {
	if version, ok := from[key]; ok {
		delete(from, key)
		c.quarantined.remove(key, version)
	}
}

// releaseAll takes all keys out of a quarantine.
func (c *core) releaseAll(from quarantine) {
	for key := range from {
		c.release(from, key)
	}
}

// recount updates the number of quarantined objects after a change of a part's quarantine, which
// held was objects before.
func (c *core) recount(p *part, was int) {
	c.quarantinedObjects += len(p.quarantine) - was
	c.status.quarantined.Store(int64(c.quarantinedObjects))
}

// holdObject quarantines the object of a single change.
func (c *core) holdObject(p *part, d *deltafifo.Delta) {
	was := len(p.quarantine)
	c.hold(&p.quarantine, d)
	c.recount(p, was)
}

// releaseObject takes a key out of the quarantine of a part, if it is there.
func (c *core) releaseObject(part uint16, key indexer.Key) {
	if p := &c.parts[part]; len(p.quarantine) > 0 {
		was := len(p.quarantine)
		c.release(p.quarantine, key)
		c.recount(p, was)
	}
}
