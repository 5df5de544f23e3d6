package jsondecode

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

const (
	// mostPaths limits the paths of a decoder, and mostChildren the paths below one path. An object with
	// more keys is a map, such as labels.
	mostPaths    = 2048
	mostChildren = 64
	// mostSites limits the sites of paths in the process.
	mostSites = 1 << 14
	// longestPath is the length of the longest path that a decoder stores.
	longestPath = 512
	// longestLast is the length of the longest string that a path stores.
	longestLast = 64
)

// path is a place in the objects of one kind, such as spec.containers[].env. It consists of the keys
// that lead to a value, and holds everything that the decoder has learned about this place.
//
// Invariant: values at one path are decoded in the same way in every object.
type path struct {
	name     string // the key
	full     string // all keys that lead to the value
	realm    gotype.Realm
	absent   bool        // the field is dropped
	drop     *fields.Set // the fields to drop below
	catchAll bool        // the path stands for all keys without paths of their own

	children map[string]*path
	first    *path // the first key of the last object
	after    *path // the key after this one in the last object
	elements *path // the path of an array's elements

	seen bool // the path has occurred
	site share.Site
	use  use
	last any // the last string that was returned for this path
}

// A use is the state of a path's site.
type use uint8

const (
	unknown use = iota // until the path occurs for the second time
	sited
	siteless // there were too many sites
)

// paths holds the paths of a decoder.
type paths struct {
	root     *path
	count    int
	others   [gotype.Payload + 1]*path // catch-all paths by realm
	withhold bool                      // strings in [gotype.Payload] are not shared
}

func newPaths(o Options) *paths {
	p := &paths{root: &path{drop: o.Drop}, withhold: o.withholds(true)}
	for r := range p.others {
		p.others[r] = &path{realm: gotype.Realm(r), catchAll: true, use: siteless} //nolint:gosec // one of a few
	}
	return p
}

// child returns the path of a key, and the key as a permanent string.
func (p *paths) child(n *path, key []byte, table *share.Table) (child *path, name string) {
	if c := n.children[string(key)]; c != nil {
		return c, c.name
	}
	if n.realm == gotype.Payload { // store nothing of it, not even a key
		return p.catchAll(n, string(key))
	}
	if len(n.children) >= mostChildren || p.full(n, len(key)) {
		return p.catchAll(n, table.String(keys(), key))
	}
	c := p.make(n, table.String(keys(), key))
	if n.children == nil {
		n.children = make(map[string]*path)
	}
	n.children[c.name] = c
	p.count++
	return c, c.name
}

// full reports whether a path below n that is this many bytes longer may no longer be made.
func (p *paths) full(n *path, more int) bool {
	return n.catchAll || p.count >= mostPaths || len(n.full)+more > longestPath
}

// catchAll returns the path for a key without a path of its own.
func (p *paths) catchAll(n *path, name string) (*path, string) {
	if n.drop == nil {
		return p.others[p.realm(n, name)], name
	}
	c := p.make(n, name)
	c.catchAll, c.use = true, siteless
	return c, name
}

// realm returns the realm of the values at a key below n. Unstructured objects may share all of their
// managedFields. Payload is withheld if a transform may remove it.
func (p *paths) realm(n *path, name string) gotype.Realm {
	switch r := n.realm.Below(name); {
	case r == gotype.Managed:
		return gotype.Open
	case r == gotype.Payload && !p.withhold:
		return gotype.Closed
	default:
		return r
	}
}

func (p *paths) make(n *path, name string) *path {
	c := &path{name: name, full: name, realm: p.realm(n, name)}
	if n.full != "" {
		c.full = n.full + "." + name
	}
	c.drop, c.absent = n.drop.Of(name)
	return c
}

// of returns the path of an array's elements.
func (p *paths) of(n *path) *path {
	if n.elements != nil {
		return n.elements
	}
	r := n.realm.Elements()
	full := p.full(n, len("[]"))
	if full && n.drop == nil {
		return p.others[r]
	}
	e := &path{full: n.full + "[]", realm: r, drop: n.drop, catchAll: full}
	if full {
		e.use = siteless
		return e
	}
	p.count++
	n.elements = e
	return e
}

// next returns where the path stores the next key. A path for many keys stores none, because the next
// key may have another path in each object.
func (n *path) next() **path {
	if n.catchAll {
		return nil
	}
	return &n.after
}

// siteOf returns the site of a path, if it has one. A path gets its site when it occurs for the second
// time, so that a key that occurs once needs no site.
func (n *path) siteOf() (share.Site, bool) {
	if n.use == unknown {
		if !n.seen {
			n.seen = true
			return 0, false
		}
		n.site, n.use = siteOfPath(n.full)
	}
	return n.site, n.use == sited
}

// sites holds the sites of the paths of all kinds. A site stays as long as the process, also after its
// decoder has ended.
var sites struct {
	mu     sync.Mutex
	byPath map[string]share.Site
}

func siteOfPath(full string) (share.Site, use) {
	sites.mu.Lock()
	defer sites.mu.Unlock()

	if s, ok := sites.byPath[full]; ok {
		return s, sited
	}
	if len(sites.byPath) >= mostSites {
		return 0, siteless
	}
	if sites.byPath == nil {
		sites.byPath = make(map[string]share.Site)
	}
	s := share.NewSite()
	sites.byPath[full] = s
	return s, sited
}

// keys returns the site for the keys of objects.
var keys = sync.OnceValue(share.NewSite)
