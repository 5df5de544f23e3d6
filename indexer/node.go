package indexer

import (
	"strings"
	"unique"
	"unsafe"
)

// node is one entry of a table. The key never changes. Few namespaces name many
// objects: one string for all of them is small, and stays in the processor's cache.
//
// A look-up has to read the name, so the name's bytes are the node's own: they lie in
// head, and on behind the node in the memory that was allocated with it. Read through
// the object's string, they would cost a random look-up a third of its time, for one
// more line of memory that no cache holds. A name that is too long for that lies behind
// the node as a string.
type node[V any] struct {
	namespace unique.Handle[string]
	value     V
	number    uint32 // the value's own, here since there is room
	length    uint8  // of the name, or longName
	head      [headSize]byte
}

const (
	headSize = 3
	longName = 0xff
)

// newNode returns a node of a key. Its size is one of those that Go's allocator has.
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

// sized is a node and what lies behind it.
type sized[V, Tail any] struct {
	node[V]
	tail Tail
}

// long returns the string behind a node with a long name.
func (n *node[V]) long() *string { return &(*sized[V, string])(unsafe.Pointer(n)).tail }

// bytes returns the bytes of a name that is not long.
func (n *node[V]) bytes() []byte { return unsafe.Slice(&n.head[0], int(n.length)) }

// name returns the name in the node's own memory: whoever keeps it keeps the node.
func (n *node[V]) name() string {
	if n.length == longName {
		return *n.long()
	}
	return unsafe.String(&n.head[0], int(n.length))
}

// view returns the key in the node's own memory, for as long as the node is at hand.
func (n *node[V]) view() Key { return Key{n.namespace.Value(), n.name()} }

// key returns the key in memory of its own, to be kept.
func (n *node[V]) key() Key { return Key{n.namespace.Value(), strings.Clone(n.name())} }

func (n *node[V]) is(key Key) bool {
	return n.name() == key.Name && n.namespace.Value() == key.Namespace
}
