package jsondecode

import (
	"strconv"
	"sync"
	"sync/atomic"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Options configure a decoder. With the zero Options it shares only keys, and leaves nothing out.
type Options struct {
	// Table stores equal strings and values once. Without it, objects share only the names of
	// keys.
	Table *share.Table
	// Values asks for nested objects and arrays to be shared, if that is safe.
	Values bool
	// Drop holds the fields that are left out.
	Drop *fields.Set
	// Secret keeps all strings of the objects out of the table.
	Secret bool
}

// withholds reports whether a string stays out of the table. A transform that comes after the decoding
// may remove a program's own data, which must not stay in memory then.
func (o *Options) withholds(payload bool) bool { return o.Secret || payload && !o.Values }

// Unstructured decodes objects of one kind as the dynamic client does. Goroutines may use it in
// turns.
type Unstructured struct {
	options Options
	strings *share.Table // the table, or nil if no strings are shared
	redone  atomic.Uint64

	mu    sync.Mutex // taken before the table
	text  text
	paths *paths
	size  int // of what was made of the object
}

// NewUnstructured returns a decoder.
func NewUnstructured(o Options) *Unstructured {
	d := &Unstructured{options: o, paths: newPaths(o)}
	if !o.Secret {
		d.strings = o.Table
	}
	return d
}

// Redone returns the number of objects left to apimachinery's decoder.
func (d *Unstructured) Redone() uint64 { return d.redone.Load() }

// Decode returns the object in data. It keeps no part of data.
func (d *Unstructured) Decode(data []byte) (map[string]any, error) {
	if m, ok := d.object(data); ok {
		return m, nil
	}
	d.redone.Add(1)
	var m map[string]any
	if err := utiljson.Unmarshal(without(data, d.options.Drop), &m); err != nil {
		return nil, err
	}
	return m, nil
}

// object decodes an object without oddities. It reports whether it could.
func (d *Unstructured) object(data []byte) (m map[string]any, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if !d.text.scan(data) || d.text.tokens[0].kind != kindObject {
		return nil, false
	}
	d.options.Table.Lock()
	defer d.options.Table.Unlock()
	defer d.text.clear()

	d.size = 0
	m, _, ok = d.members(d.paths.root, 0)
	return m, ok
}

// A verdict says whether a decoded value may be shared.
type verdict bool

// members decodes an object, without a look-up in the table.
func (d *Unstructured) members(n *path, self uint32) (m map[string]any, shareable verdict, ok bool) {
	t := d.text.tokens[self]
	count := d.text.count(self)
	m, shareable = make(map[string]any, count), n.realm == gotype.Open
	d.size += sizeOfMap(count, 32)
	link := &n.first
	for i := self + 1; i < t.next; {
		child, name := d.child(n, link, i)
		link = child.next()
		value := i + 1
		i = d.text.tokens[value].next
		if child.realm != gotype.Open {
			shareable = false
		}
		if child.absent {
			continue
		}
		v, free, ok := d.value(child, value)
		if !ok {
			return nil, false, false
		}
		m[name] = v
		shareable = shareable && free
	}
	return m, shareable, true
}

// child returns the path of a key. It first tries link, if there is one: the key at this place in the last object.
// Servers write keys in one order.
func (d *Unstructured) child(n *path, link **path, key uint32) (child *path, name string) {
	says := d.text.says(key)
	if link != nil && *link != nil && (*link).name == string(says) {
		return *link, (*link).name
	}
	child, name = d.paths.child(n, says, d.strings)
	if link != nil && !child.beyond {
		*link = child
	}
	return child, name
}

func (d *Unstructured) value(n *path, i uint32) (v any, shareable verdict, ok bool) {
	switch d.text.tokens[i].kind {
	case kindObject, kindArray:
		return d.container(n, i)
	case kindString, kindEscaped:
		return d.string(n, i), true, true
	case kindInt, kindFloat:
		v, ok = number(d.text.raw(i))
		d.size += 8
		return v, true, ok
	case kindTrue:
		return true, true, true
	case kindFalse:
		return false, true, true
	}
	return nil, true, true
}

// container decodes an object or an array, unless the table has an equal one.
func (d *Unstructured) container(n *path, i uint32) (v any, shareable verdict, ok bool) {
	site, looked := share.Site(0), d.options.Values && n.realm == gotype.Open && n.drop == nil
	if looked {
		site, looked = n.siteOf()
	}
	if !looked {
		return d.build(n, i)
	}
	raw := d.text.raw(i)
	found, mark := d.options.Table.Find(site, raw)
	if found != nil {
		return found, true, true
	}
	before := d.size
	v, shareable, ok = d.build(n, i)
	if ok && bool(shareable) && mark.Wanted() {
		d.options.Table.Keep(mark, site, raw, v, d.size-before)
	}
	return v, shareable, ok
}

func (d *Unstructured) build(n *path, i uint32) (v any, shareable verdict, ok bool) {
	if d.text.tokens[i].kind == kindObject {
		return d.members(n, i)
	}
	return d.elements(n, i)
}

func (d *Unstructured) elements(n *path, self uint32) (a []any, shareable verdict, ok bool) {
	t := d.text.tokens[self]
	count := d.text.count(self)
	a, shareable = make([]any, 0, count), n.realm == gotype.Open
	d.size += 40 + 16*count
	of := d.paths.of(n)
	for i := self + 1; i < t.next; i = d.text.tokens[i].next {
		v, free, ok := d.value(of, i)
		if !ok {
			return nil, false, false
		}
		a = append(a, v)
		shareable = shareable && free
	}
	return a, shareable, true
}

// string returns a string as a value. Most strings equal the last one at their path.
func (d *Unstructured) string(n *path, i uint32) any {
	says := d.text.says(i)
	if s, ok := n.last.(string); ok && s == string(says) {
		return n.last
	}
	d.size += 32 + len(says)
	if d.strings == nil || n.realm == gotype.Payload {
		return string(says)
	}
	site, known := n.siteOf()
	if !known {
		site = keys()
	}
	v := d.strings.Boxed(site, says)
	if len(says) <= longestLast && !n.beyond {
		n.last = v
	}
	return v
}

// number returns an int64 if the number is written as an integer and fits, and else a float64.
func number(raw []byte) (v any, ok bool) {
	if n, ok := integer(raw); ok {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// integer reads a number that has neither fraction nor exponent, and fits an int64.
func integer(raw []byte) (n int64, ok bool) {
	digits := raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) > 18 {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return n, err == nil
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if len(digits) < len(raw) {
		n = -n
	}
	return n, true
}

// sizeOfMap estimates the memory of a map from the size of its slots.
func sizeOfMap(count, slot int) int {
	switch {
	case count == 0:
		return 48
	case count <= 8:
		return 56 + 8*slot
	}
	return 100 + count*(slot+1)*3/2
}
