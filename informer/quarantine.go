package informer

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// quarantine is the objects of one source that could not be prepared, by their keys, and
// at which version that was. The processLoop's own.
type quarantine map[indexer.Key]string

// mostQuarantined is of how many quarantined objects the errors are kept.
const mostQuarantined = 100

// quarantined is what others may ask of the objects that could not be prepared: who
// waits for a version has to hear that it is not in the store, and who inspects the
// informer what is wrong with them.
type quarantined struct {
	mu       sync.Mutex
	versions map[string]quarantinedAt
	objects  map[indexer.Key]quarantinedObject // at most mostQuarantined
}

// quarantinedObject is an object that could not be prepared. Several sources may hold it,
// and one source twice, while a full state arrives.
type quarantinedObject struct {
	QuarantinedObject
	times int
}

// quarantinedAt is the object of one version. A source may hold it twice, while a full
// state arrives, and so may two sources.
type quarantinedAt struct {
	key   indexer.Key
	times int
}

// at returns the key of the object that could not be prepared at a version.
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

// all returns the objects, in the order in which they came.
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

// hold quarantines the object of a delta. What was stored of it before stays.
func (c *core) hold(in *quarantine, d *deltafifo.Delta) {
	if *in == nil {
		*in = make(quarantine)
	}
	err, _ := d.Object.(error)
	c.quarantined.add(d.Key, d.Version, err) // first: it may be quarantined since long
	c.release(*in, d.Key)
	(*in)[d.Key] = d.Version
}

// release notes that an object is not quarantined any more.
func (c *core) release(from quarantine, key indexer.Key) {
	if version, ok := from[key]; ok {
		delete(from, key)
		c.quarantined.remove(key, version)
	}
}

// releaseAll is release for all objects.
func (c *core) releaseAll(from quarantine) {
	for key := range from {
		c.release(from, key)
	}
}

// recount takes note of how many objects of a part are quarantined, which had so many
// before.
func (c *core) recount(p *part, was int) {
	c.quarantinedCount += len(p.quarantine) - was
	c.status.quarantined.Store(int64(c.quarantinedCount))
}

// poison quarantines the object of a change.
func (c *core) quarantine(p *part, d *deltafifo.Delta) {
	was := len(p.quarantine)
	c.hold(&p.quarantine, d)
	c.recount(p, was)
}

// cure notes that a source has no quarantined object under a key any more.
func (c *core) releaseKey(part uint16, key indexer.Key) {
	if p := &c.parts[part]; len(p.quarantine) > 0 {
		was := len(p.quarantine)
		c.release(p.quarantine, key)
		c.recount(p, was)
	}
}
