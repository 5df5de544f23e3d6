package informer

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// quarantine is the objects of one source that could not be prepared, by their keys, and
// at which version that was. The processLoop's own.
type quarantine map[indexer.Key]string

// quarantined is what others may ask of the objects that could not be prepared: who
// waits for a version has to hear that it is not in the store.
type quarantined struct {
	mu       sync.Mutex
	versions map[string]quarantinedAt
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

func (q *quarantined) add(key indexer.Key, version string) {
	if version == "" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.versions == nil {
		q.versions = make(map[string]quarantinedAt)
	}
	q.versions[version] = quarantinedAt{key, q.versions[version].times + 1}
}

func (q *quarantined) remove(version string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	found := q.versions[version]
	if found.times--; found.times > 0 {
		q.versions[version] = found
	} else {
		delete(q.versions, version)
	}
}

// hold quarantines the object of a delta. What was stored of it before stays.
func (c *core) hold(in *quarantine, key indexer.Key, version string) {
	if *in == nil {
		*in = make(quarantine)
	}
	c.release(*in, key)
	(*in)[key] = version
	c.quarantined.add(key, version)
}

// release notes that an object is not quarantined any more.
func (c *core) release(from quarantine, key indexer.Key) {
	if version, ok := from[key]; ok {
		delete(from, key)
		c.quarantined.remove(version)
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
	c.poisoned += len(p.quarantine) - was
	c.status.quarantined.Store(int64(c.poisoned))
}

// poison quarantines the object of a change.
func (c *core) poison(p *part, key indexer.Key, version string) {
	was := len(p.quarantine)
	c.hold(&p.quarantine, key, version)
	c.recount(p, was)
}

// cure notes that a source has no quarantined object under a key any more.
func (c *core) cure(part uint16, key indexer.Key) {
	if p := &c.parts[part]; len(p.quarantine) > 0 {
		was := len(p.quarantine)
		c.release(p.quarantine, key)
		c.recount(p, was)
	}
}
