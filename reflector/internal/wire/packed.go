package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
)

// PackedDecoder decodes the objects that a sink holds packed. Its methods are the functions of a
// [pack.Kind], and may be called by any goroutine; none waits for another. An object decodes to what a
// [Decoder] without a table of shared values has made of the same bytes.
//
// Bytes that begin with a brace are JSON, and all others protobuf. item.toPack refuses what this is not
// true of.
type PackedDecoder struct {
	objects  Objects
	decoders sync.Pool // of *packedDecoders
}

// packedDecoders are what one goroutine decodes with.
type packedDecoders struct {
	*Decoder
	meta metaReader
}

// NewPackedDecoder returns a decoder of a source's objects, without the fields of drop, if that is not nil.
func NewPackedDecoder(k Objects, drop *fields.Set) *PackedDecoder {
	d := &PackedDecoder{objects: k}
	d.decoders.New = func() any { return &packedDecoders{NewDecoder(k, Sharing{}, drop), newMetaReader(k.Type, drop)} }
	return d
}

// Type returns the type of the decoded objects, such as *corev1.Pod.
func (d *PackedDecoder) Type() reflect.Type { return d.objects.Type }

// Decode returns the object in data, of which it keeps no part. The form says whether the object is to
// have the kind that the bytes name: the object of an event has none, unless it is unstructured.
func (d *PackedDecoder) Decode(data []byte, f pack.Form) (any, error) {
	with := d.decoders.Get().(*packedDecoders)
	defer d.decoders.Put(with)

	return with.decodePacked(data, f)
}

func (d *packedDecoders) decodePacked(data []byte, f pack.Form) (runtime.Object, error) {
	it, of := item{format: formatOf(data), data: data}, &ListHead{}
	if f == pack.Event {
		of = nil
	}
	return d.decode(it, of)
}

// Meta returns a [*metav1.ObjectMeta] with the name, namespace, UID, version, labels, finalizers,
// deletionTimestamp and deletionGracePeriodSeconds of the object in data, which equal those of the decoded
// object. If the bytes do not decode, it returns an error, or what their metadata says.
func (d *PackedDecoder) Meta(data []byte, f pack.Form) (any, error) {
	with := d.decoders.Get().(*packedDecoders)
	defer d.decoders.Put(with)

	if m := with.meta.read(data); m != nil {
		return m, nil
	}
	obj, err := with.decodePacked(data, f)
	if err != nil {
		return nil, err
	}
	m := object.Meta(obj)
	if m == nil {
		return nil, fmt.Errorf("%w: a %T without metadata", ErrUnexpected, obj)
	}
	return partOf(m), nil
}

// Taker is what a sink packs its objects with.
type Taker = pack.Taker

// TakeAnswer returns what a sink holds of the object of an answer to a write: that object if it cannot be packed.
func TakeAnswer(to Taker, obj runtime.Object, data []byte, protobuf bool) any {
	it := item{format: formatJSON, data: data}
	if protobuf {
		it.format = formatProtobuf
	}
	if _, form, ok := it.toPack(obj, nil, nil); ok && to != nil {
		return to.Take(obj, data, form)
	}
	return obj
}

// formatOf returns the format of stored bytes.
func formatOf(data []byte) format {
	if len(data) > 0 && data[0] == '{' {
		return formatJSON
	}
	return formatProtobuf
}

// toPack returns the bytes and the form from which a [PackedDecoder] decodes an item to obj, which is what
// the item has been decoded to. The bytes are those of the item, or, if the kind of an unstructured item
// comes from its list, those of the item and the kind, in buffer. It returns false for an item that cannot
// be packed: its format does not show, it has two metadata, or its list has not named the kind yet.
func (i item) toPack(obj runtime.Object, of *ListHead, buffer *[]byte) (data []byte, f pack.Form, ok bool) {
	if of != nil {
		f = pack.Item
	}
	if formatOf(i.data) != i.format || i.format == formatProtobuf {
		return i.data, f, formatOf(i.data) == i.format
	}
	kind, metadata, ok := jsondecode.Split(i.data)
	u, untyped := obj.(*unstructured.Unstructured)
	switch {
	case !ok || metadata == nil:
		return nil, 0, false
	case !untyped || of == nil || kind != metav1.TypeMeta{}:
		return i.data, f, true
	case !of.isKnown():
		return nil, 0, false
	}
	*buffer = appendKind((*buffer)[:0], i.data, u)
	return *buffer, f, true
}

// appendKind appends an object in JSON that has a member, with the kind of u. Of two members with the same
// key the last one counts.
func appendKind(to, data []byte, u *unstructured.Unstructured) []byte {
	version, _ := json.Marshal(u.GetAPIVersion()) // a string
	kind, _ := json.Marshal(u.GetKind())
	to = append(append(to, data[:len(data)-1]...), `,"apiVersion":`...)
	to = append(append(to, version...), `,"kind":`...)
	return append(append(to, kind...), '}')
}
