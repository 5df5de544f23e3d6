package jsondecode

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

const (
	// mostPaths bounds the paths of a decoder, and mostChildren the paths below one path: an
	// object with more keys is a map, such as labels.
	mostPaths    = 2048
	mostChildren = 64
	// mostSites bounds the sites of paths in the whole process.
	mostSites = 1 << 14
	// longestPath is the length of the longest path that a decoder keeps.
	longestPath = 512
	// longestLast is the length of the longest string that a path keeps.
	longestLast = 64
)

// path is a place in the objects of one kind, such as spec.containers[].env: the keys on the way
// to a value. It holds everything that a decoder knows of a key.
//
// Invariant: values at one path are decoded in the same way in every object.
type path struct {
	name   string // the key
	full   string // all keys on the way
	realm  gotype.Realm
	absent bool        // the field is left out
	drop   *fields.Set // what is left out below
	beyond bool        // the path is one for all that no path was made for

	children map[string]*path
	first    *path // the key that the last object began with
	after    *path // the key that came after this one in the last object
	elements *path // of an array

	met  bool // before
	site share.Site
	use  use
	last any // the last string here, as it was handed out
}

// A use is the state of a path's site.
type use uint8

const (
	unknown use = iota // until the path is met a second time
	sited
	siteless // there were too many
)

// paths holds the paths of a decoder.
type paths struct {
	root     *path
	count    int
	others   [gotype.Payload + 1]*path // what is beyond the bounds, by realm
	withhold bool                      // a program's own data
}

func newPaths(o Options) *paths {
	p := &paths{root: &path{drop: o.Drop}, withhold: o.withholds(true)}
	for r := range p.others {
		p.others[r] = &path{realm: gotype.Realm(r), beyond: true, use: siteless} //nolint:gosec // one of a few
	}
	return p
}

// child returns the path of a key, and the key as a permanent string.
func (p *paths) child(n *path, key []byte, table *share.Table) (child *path, name string) {
	if c := n.children[string(key)]; c != nil {
		return c, c.name
	}
	if n.realm == gotype.Payload { // nothing of it is remembered, not even a key
		return p.stranger(n, string(key))
	}
	if len(n.children) >= mostChildren || p.full(n, len(key)) {
		return p.stranger(n, table.String(keys(), key))
	}
	c := p.make(n, table.String(keys(), key))
	if n.children == nil {
		n.children = make(map[string]*path)
	}
	n.children[c.name] = c
	p.count++
	return c, c.name
}

// full reports whether no more path is made below n that is longer by so many bytes.
func (p *paths) full(n *path, more int) bool {
	return n.beyond || p.count >= mostPaths || len(n.full)+more > longestPath
}

// stranger returns the path for a key without a path of its own.
func (p *paths) stranger(n *path, name string) (*path, string) {
	if n.drop == nil {
		return p.others[p.realm(n, name)], name
	}
	c := p.make(n, name)
	c.beyond, c.use = true, siteless
	return c, name
}

// realm returns the realm of the values at a key below n. Objects without a Go type may share all of
// their managedFields. Data is withheld if a transform may remove it.
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

// of returns the path of the elements of an array.
func (p *paths) of(n *path) *path {
	if n.elements != nil {
		return n.elements
	}
	r := n.realm.Elements()
	full := p.full(n, len("[]"))
	if full && n.drop == nil {
		return p.others[r]
	}
	e := &path{full: n.full + "[]", realm: r, drop: n.drop, beyond: full}
	if full {
		e.use = siteless
		return e
	}
	p.count++
	n.elements = e
	return e
}

// next returns where the key after this one is remembered. A path that stands for many keys remembers none: what
// comes after one of them in one object may have another path in the next.
func (n *path) next() **path {
	if n.beyond {
		return nil
	}
	return &n.after
}

// siteOf returns the site of a path, and whether it has one. A path gets its site when it occurs
// the second time, so that a key that occurs once uses no site.
func (n *path) siteOf() (share.Site, bool) {
	if n.use == unknown {
		if !n.met {
			n.met = true
			return 0, false
		}
		n.site, n.use = siteOfPath(n.full)
	}
	return n.site, n.use == sited
}

// sites holds the sites of the paths of all kinds: a decoder may end, a site stays as long as the
// process.
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

// keys returns the site of the keys of objects.
var keys = sync.OnceValue(share.NewSite)
