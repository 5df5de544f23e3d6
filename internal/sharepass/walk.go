package sharepass

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

const (
	// maxDepth and maxEncoded limit a walk. An object that is deeper or longer, for instance because it
	// contains itself, stays as it is.
	maxDepth   = 200
	maxNodes   = 1 << 16
	maxEncoded = 4 << 20
	// keptNodes and keptBytes limit the memory that a pass keeps between objects.
	keptNodes = 1 << 11
	keptBytes = 256 << 10
)

// walk encodes an object. If two values at one site have equal encodings, programs that do not write
// into them cannot tell them apart.
//
// Each pointer, slice and map is a node. A node precedes the nodes that it contains.
type walk struct {
	buf    []byte
	nodes  []node
	depth  int
	failed bool // the object exceeds a limit

	// inMap counts the typed maps that contain the value. Values in a typed map cannot be replaced, and
	// get no nodes.
	inMap int

	entries []entry
	spare   []byte
	scratch map[reflect.Type][]mapScratch
	spots   map[string]spot
}

// node is a replaceable reference.
type node struct {
	site share.Site
	path []int  // field indices within the parent's element
	elem int    // if the parent is a slice
	key  string // if the parent is a map

	value      reflect.Value
	start, end int  // the position of its encoding
	next       int  // the first node behind it that it does not contain
	apart      bool // must not be shared itself
}

func (w *walk) reset() {
	clear(w.nodes)
	clear(w.entries[:cap(w.entries)])
	w.buf, w.nodes = w.buf[:0], w.nodes[:0]
	w.depth, w.failed, w.inMap = 0, false, 0
	if cap(w.nodes) > keptNodes || cap(w.entries) > keptNodes || cap(w.buf) > keptBytes {
		w.buf, w.spare, w.nodes, w.entries = nil, nil, nil, nil
	}
}

// begin opens a node, except inside a typed map.
func (w *walk) begin(n node) int {
	if w.depth++; w.depth > maxDepth || len(w.nodes) > maxNodes || len(w.buf) > maxEncoded {
		w.failed = true
	}
	if w.inMap > 0 {
		return -1
	}
	n.start = len(w.buf)
	w.nodes = append(w.nodes, n)
	return len(w.nodes) - 1
}

// end closes a node. A value that contains an unshared value is not shared either.
func (w *walk) end(i int, apart bool) {
	w.depth--
	if i >= 0 {
		n := &w.nodes[i]
		n.end, n.next, n.apart = len(w.buf), len(w.nodes), n.apart || apart
	}
}

// leaves encodes a value by the plan of its type: the number and the content of each leaf that is not
// zero, and then a zero. It reports whether the value contains something that must not be shared.
func (w *walk) leaves(base unsafe.Pointer, p *plan, elem int) (apart bool) {
	for i := range p.leaves {
		l := &p.leaves[i]
		if w.leaf(unsafe.Add(base, l.offset), l, i+1, elem) {
			apart = true
		}
	}
	w.buf = append(w.buf, 0)
	return apart
}

func (w *walk) leaf(f unsafe.Pointer, l *leaf, number, elem int) (apart bool) {
	switch l.form {
	case formBits:
		if n := bits(f, l.typ.Size()); n != 0 {
			w.number(number)
			w.buf = binary.AppendUvarint(w.buf, n)
		}
		return false
	case formString:
		if s := *(*string)(f); s != "" {
			w.number(number)
			w.string(s)
		}
		return false
	case formTime:
		w.number(number)
		return !w.time(*(*time.Time)(f))
	case formQuantity:
		w.number(number)
		return !w.quantity((*resource.Quantity)(f))
	}
	if *(*unsafe.Pointer)(f) == nil { // the first word of each of these
		return false
	}
	if l.form == formOpaque {
		return true
	}
	w.number(number)
	return w.reference(reflect.NewAt(l.typ, f).Elem(), l, elem)
}

// bits returns the bits of a number or bool of a size.
func bits(f unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(f))
	case 2:
		return uint64(*(*uint16)(f))
	case 4:
		return uint64(*(*uint32)(f))
	default:
		return *(*uint64)(f)
	}
}

func (w *walk) reference(f reflect.Value, l *leaf, elem int) (apart bool) {
	i := w.begin(node{site: l.site, path: l.path, elem: elem, value: f, apart: !l.shared || empty(f)})
	if !w.failed {
		apart = w.content(f, l)
	}
	w.end(i, apart)
	return apart || !l.shared
}

// empty reports whether a value is an empty slice: there is nothing to share.
func empty(f reflect.Value) bool { return f.Kind() == reflect.Slice && f.Len() == 0 }

func (w *walk) content(f reflect.Value, l *leaf) (apart bool) {
	switch l.form {
	case formPointer:
		return w.leaves(f.UnsafePointer(), l.elem, 0)
	case formBytes:
		w.number(f.Len())
		w.buf = append(w.buf, f.Bytes()...)
	case formSlice:
		w.number(f.Len())
		first, size := f.UnsafePointer(), l.typ.Elem().Size()
		for i := range f.Len() {
			if w.leaves(unsafe.Add(first, uintptr(i)*size), l.elem, i) {
				apart = true
			}
			if w.failed {
				break
			}
		}
	case formMap:
		return w.typedMap(f, l)
	}
	return apart
}

func (w *walk) number(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) } //nolint:gosec // never negative

func (w *walk) string(s string) {
	w.number(len(s))
	w.buf = append(w.buf, s...)
}

// entry is an entry of a typed map, with the position of its encoding.
type entry struct {
	key        string
	start, end int
}

// mapScratch holds a key and an element of one map type.
type mapScratch struct {
	iter      *reflect.MapIter
	key, elem reflect.Value
}

// typedMap encodes the entries of a map in any order, and then sorts their encodings by key.
func (w *walk) typedMap(f reflect.Value, l *leaf) (apart bool) {
	w.number(f.Len())
	s := w.takeScratch(f.Type())
	start, first := len(w.buf), len(w.entries)
	w.inMap++
	s.iter.Reset(f)
	for s.iter.Next() && !w.failed {
		s.key.SetIterKey(s.iter)
		s.elem.SetIterValue(s.iter)
		e := entry{key: s.key.String(), start: len(w.buf)}
		w.string(e.key)
		if w.leaves(s.elem.Addr().UnsafePointer(), l.elem, 0) {
			apart = true
		}
		e.end = len(w.buf)
		w.entries = append(w.entries, e)
	}
	w.inMap--
	w.giveScratch(f.Type(), s)
	w.sort(w.entries[first:], start)
	w.entries = w.entries[:first]
	return apart
}

func byKey(a, b entry) int { return strings.Compare(a.key, b.key) }

// sort sorts entries by key. Their encodings begin at start.
func (w *walk) sort(entries []entry, start int) {
	slices.SortFunc(entries, byKey)
	w.spare = append(w.spare[:0], w.buf[start:]...)
	w.buf = w.buf[:start]
	for _, e := range entries {
		w.buf = append(w.buf, w.spare[e.start-start:e.end-start]...)
	}
}

// takeScratch returns scratch memory to read a map of a type. A type can have several, because maps may
// contain maps of the same type.
func (w *walk) takeScratch(t reflect.Type) mapScratch {
	free := w.scratch[t]
	if len(free) == 0 {
		return mapScratch{new(reflect.MapIter), reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()}
	}
	w.scratch[t] = free[:len(free)-1]
	return free[len(free)-1]
}

func (w *walk) giveScratch(t reflect.Type, s mapScratch) {
	s.iter.Reset(reflect.Value{})
	s.key.SetZero()
	s.elem.SetZero()
	if w.scratch == nil {
		w.scratch = make(map[reflect.Type][]mapScratch)
	}
	w.scratch[t] = append(w.scratch[t], s)
}
