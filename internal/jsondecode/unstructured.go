package jsondecode

import (
	"strconv"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Options configure a decoder. With zero Options, objects share only keys, and no fields are dropped.
type Options struct {
	// Table stores equal strings and values once. Without it, objects share only keys.
	Table *share.Table
	// Values enables sharing of nested objects and arrays where that is safe.
	Values bool
	// Drop holds the fields to drop.
	Drop *fields.Set
	// Secret keeps all strings of the objects out of the table.
	Secret bool
}

// withholds reports whether a string stays out of the table. A transform after the decoding may remove
// payload, which must then not stay in memory.
func (o *Options) withholds(payload bool) bool { return o.Secret || payload && !o.Values }

// Unstructured decodes objects of one kind as the dynamic client does. It is safe for concurrent use,
// and decodes one object at a time.
type Unstructured struct {
	options Options
	strings *share.Table // the table, or nil if strings are not shared

	mu    sync.Mutex // locked before the table
	text  text
	paths *paths
	size  int // approximate size of the decoded part of the object
}

// NewUnstructured returns a decoder.
func NewUnstructured(o Options) *Unstructured {
	d := &Unstructured{options: o, paths: newPaths(o)}
	if !o.Secret {
		d.strings = o.Table
	}
	return d
}

// Decode returns the object in data. The object does not refer to data.
func (d *Unstructured) Decode(data []byte) (map[string]any, error) {
	if m, ok := d.object(data); ok {
		return m, nil
	}
	var m map[string]any
	if err := utiljson.Unmarshal(without(data, d.options.Drop), &m); err != nil {
		return nil, err
	}
	return m, nil
}

// object decodes an object that needs nothing from apimachinery's decoder. It returns false for any
// other object.
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

// members decodes an object without looking it up in the table.
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

// child returns the path of a key. If link is set, it first tries the key that was in this place in the
// last object, because servers write keys in the same order.
func (d *Unstructured) child(n *path, link **path, key uint32) (child *path, name string) {
	content := d.text.content(key)
	if link != nil && *link != nil && (*link).name == string(content) {
		return *link, (*link).name
	}
	child, name = d.paths.child(n, content, d.strings)
	if link != nil && !child.catchAll {
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

// container decodes an object or array, unless the table has an equal value.
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

// string returns a string as a value. Most strings equal the last string at their path.
func (d *Unstructured) string(n *path, i uint32) any {
	content := d.text.content(i)
	if s, ok := n.last.(string); ok && s == string(content) {
		return n.last
	}
	d.size += 32 + len(content)
	if d.strings == nil || n.realm == gotype.Payload {
		return string(content)
	}
	site, known := n.siteOf()
	if !known {
		site = keys()
	}
	v := d.strings.Boxed(site, content)
	if len(content) <= longestLast && !n.catchAll {
		n.last = v
	}
	return v
}

// number returns an int64 if the number is an integer literal that fits, and otherwise a float64.
func number(raw []byte) (v any, ok bool) {
	if n, ok := integer(raw); ok {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// integer reads a number without fraction and exponent that fits an int64.
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

// sizeOfMap estimates the size of a map from the size of its slots.
func sizeOfMap(count, slot int) int {
	switch {
	case count == 0:
		return 48
	case count <= 8:
		return 56 + 8*slot
	}
	return 100 + count*(slot+1)*3/2
}
