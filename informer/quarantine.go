package informer

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// quarantine maps the keys of one source's quarantined objects to their versions. Owned by the
// processLoop.
type quarantine map[indexer.Key]string

// mostQuarantined is the largest number of quarantined objects whose errors are kept.
const mostQuarantined = 100

// quarantined makes the quarantined objects known to other goroutines: to callers that wait for a
// version, which is not in the store, and to the inspector.
type quarantined struct {
	mu       sync.Mutex
	versions map[string]quarantinedAt
	objects  map[indexer.Key]quarantinedObject // at most mostQuarantined
}

// quarantinedObject is an object that could not be prepared, with the number of its holders.
// Several sources may hold it, and one source twice while a full state arrives.
type quarantinedObject struct {
	QuarantinedObject
	times int
}

// quarantinedAt is the quarantined object of one version, with the number of its holders.
type quarantinedAt struct {
	key   indexer.Key
	times int
}

// at returns the key of the quarantined object of a version.
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
	if object.times++; again || len(q.objects) < mostQuarantined {
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

// all returns the objects, the oldest first.
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

// hold quarantines the object of a delta. An earlier version stays in the store.
func (c *core) hold(in *quarantine, d *deltafifo.Delta) {
	if *in == nil {
		*in = make(quarantine)
	}
	err, _ := d.Object.(error)
	c.quarantined.add(d.Key, d.Version, err) // first: it may have been quarantined for long
	c.release(*in, d.Key)
	(*in)[d.Key] = d.Version
}

// release removes a key from a quarantine.
func (c *core) release(from quarantine, key indexer.Key) {
	if version, ok := from[key]; ok {
		delete(from, key)
		c.quarantined.remove(key, version)
	}
}

// releaseAll releases all keys of a quarantine.
func (c *core) releaseAll(from quarantine) {
	for key := range from {
		c.release(from, key)
	}
}

// recount updates the number of quarantined objects after that of a part has changed from was.
func (c *core) recount(p *part, was int) {
	c.quarantinedCount += len(p.quarantine) - was
	c.status.quarantined.Store(int64(c.quarantinedCount))
}

// quarantine quarantines the object of a change.
func (c *core) quarantine(p *part, d *deltafifo.Delta) {
	was := len(p.quarantine)
	c.hold(&p.quarantine, d)
	c.recount(p, was)
}

// releaseKey releases a key from the quarantine of a source.
func (c *core) releaseKey(part uint16, key indexer.Key) {
	if p := &c.parts[part]; len(p.quarantine) > 0 {
		was := len(p.quarantine)
		c.release(p.quarantine, key)
		c.recount(p, was)
	}
}
