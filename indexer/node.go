package indexer

import (
	"strings"
	"unique"
	"unsafe"
)

// node is an entry of a table. Its key never changes. Many objects share few namespaces, so one
// string for each namespace stays in the processor's cache.
//
// A look-up reads the name, so the node itself has the name's bytes: they begin in head and
// continue after the node, in the same allocation. Reading them through the object's string would
// cost another cache miss, a third of a random look-up's time. A longer name is a string after the
// node.
type node[V any] struct {
	namespace unique.Handle[string]
	value     V
	mark      uint32 // of a record, see record.go; here because there is room
	length    uint8  // of the name, or longName
	head      [headSize]byte
}

const (
	headSize = 3
	longName = 0xff
)

// newNode returns a node for a key. Its size is a size class of Go's allocator.
func newNode[V any](key Key) *node[V] {
	name := key.Name
	n := nodeFor[V](len(name))
	n.namespace = unique.Make(key.Namespace)
	if n.length == longName {
		*n.long() = name
		return n
	}
	n.length = uint8(len(name)) //nolint:gosec // below longName
	copy(n.bytes(), name)
	return n
}

// nodeFor allocates a node with room for a name.
func nodeFor[V any](size int) *node[V] {
	switch rest := size - headSize; {
	case rest <= 8:
		return &new(sized[V, [8]byte]).node
	case rest <= 24:
		return &new(sized[V, [24]byte]).node
	case rest <= 40:
		return &new(sized[V, [40]byte]).node
	case rest <= 72:
		return &new(sized[V, [72]byte]).node
	}
	n := &new(sized[V, string]).node
	n.length = longName
	return n
}

// sized is a node with the memory after it.
type sized[V, Tail any] struct {
	node[V]
	tail Tail
}

// long returns the string after a node with a long name.
func (n *node[V]) long() *string { return &(*sized[V, string])(unsafe.Pointer(n)).tail }

// bytes returns the bytes of a name stored in the node.
func (n *node[V]) bytes() []byte { return unsafe.Slice(&n.head[0], int(n.length)) }

// name returns the name in the node's own memory: keeping the string keeps the node.
func (n *node[V]) name() string {
	if n.length == longName {
		return *n.long()
	}
	return unsafe.String(&n.head[0], int(n.length))
}

// view returns the key in the node's own memory: keeping the key keeps the node.
func (n *node[V]) view() Key { return Key{n.namespace.Value(), n.name()} }

// key returns a copy of the key, for keeping.
func (n *node[V]) key() Key { return Key{n.namespace.Value(), strings.Clone(n.name())} }

func (n *node[V]) is(key Key) bool {
	return n.name() == key.Name && n.namespace.Value() == key.Namespace
}
