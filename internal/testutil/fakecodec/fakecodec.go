package fakecodec

import (
	"fmt"
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Codec is an indexer.Codec. The zero value is ready for use.
type Codec struct{ encoded, decoded, held atomic.Int64 }

// Encoded returns the number of encoded objects.
func (c *Codec) Encoded() int { return int(c.encoded.Load()) }

// Decoded returns the number of objects decoded since the last call of Decoded.
func (c *Codec) Decoded() int { return int(c.decoded.Swap(0)) }

// Held returns the number of objects that the store holds.
func (c *Codec) Held() int { return int(c.held.Load()) }

// Encode implements indexer.Codec.
func (c *Codec) Encode(obj any) any {
	if _, already := obj.(*stored); already {
		return obj
	}
	c.encoded.Add(1)
	return &stored{object: obj, header: headerOf(obj)}
}

// Decode implements indexer.Codec.
func (c *Codec) Decode(obj any) any {
	s, ok := obj.(*stored)
	if !ok {
		panic(fmt.Sprintf("fakecodec: a %T is not an encoded object", obj))
	}
	c.decoded.Add(1)
	return s.object
}

// ForList implements indexer.Codec.
func (c *Codec) ForList(int) func(any) any { return c.Decode }

// Count implements indexer.Codec.
func (c *Codec) Count(_ any, n int) { c.held.Add(int64(n)) }

// Reading returns a function that reads the object in a stored form, and does not count as decoding. It
// reads objects without Kubernetes metadata.
func Reading[R any](read func(obj any) R) func(stored any) R {
	return func(obj any) R {
		if s, ok := obj.(*stored); ok {
			obj = s.object
		}
		return read(obj)
	}
}

// stored is an encoded object.
type stored struct {
	object any
	header *header // nil if the object has no metadata
}

// GetObjectMeta implements metav1.ObjectMetaAccessor.
func (s *stored) GetObjectMeta() metav1.Object {
	if s.header == nil {
		return nil
	}
	return s.header
}

// header is the identity of an object, and its labels. The methods for other metadata panic.
type header struct {
	metav1.Object
	namespace, name, version string
	uid                      types.UID
	labels                   map[string]string
}

func (h *header) GetNamespace() string       { return h.namespace }
func (h *header) GetName() string            { return h.name }
func (h *header) GetResourceVersion() string { return h.version }
func (h *header) GetUID() types.UID          { return h.uid }

func (h *header) GetLabels() map[string]string { return h.labels }

func headerOf(obj any) *header {
	m, ok := obj.(metav1.Object)
	if v := reflect.ValueOf(obj); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return &header{namespace: m.GetNamespace(), name: m.GetName(), version: m.GetResourceVersion(), uid: m.GetUID(), labels: m.GetLabels()}
}
