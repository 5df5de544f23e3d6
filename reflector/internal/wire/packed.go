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

// PackedDecoder decodes the objects that a sink has packed. Any goroutine may call it, without waiting
// for others. The result equals that of a [Decoder] without a table of shared values.
//
// Bytes that begin with a brace are JSON, and all others are protobuf. item.toPack rejects items for
// which this does not hold.
type PackedDecoder struct {
	objects  Objects
	decoders sync.Pool // holds *packedDecoders
}

// packedDecoders are the decoders of one goroutine.
type packedDecoders struct {
	*Decoder
	meta metaReader
}

// NewPackedDecoder returns a decoder of a source's objects. It leaves out the fields of drop, which may be
// nil.
func NewPackedDecoder(k Objects, drop *fields.Set) *PackedDecoder {
	d := &PackedDecoder{objects: k}
	d.decoders.New = func() any { return &packedDecoders{NewDecoder(k, Sharing{}, drop), newMetaReader(k.Type, drop)} }
	return d
}

// Type returns the type of the decoded objects, such as *corev1.Pod.
func (d *PackedDecoder) Type() reflect.Type { return d.objects.Type }

// Decode decodes an object, and keeps no part of data. The form says whether the object gets the kind that
// data names. The object of an event gets none, unless it is unstructured.
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
// deletionTimestamp and deletionGracePeriodSeconds of the object in data. They equal those of the decoded
// object. If data cannot be decoded, Meta returns an error or the metadata it could read.
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

// Taker packs the objects of a sink.
type Taker = pack.Taker

// TakeAnswer returns the stored form of the object in an answer to a write. It returns obj itself if obj cannot
// be packed.
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

// toPack returns the bytes and the form to pack for an item. A [PackedDecoder] decodes them to obj, as the
// item was decoded before. If the kind of an unstructured item comes from its list, toPack copies the item
// and the kind to buffer. It returns false for an item that cannot be packed: the bytes do not show their
// format, they have two metadata members, or the list has not named the kind yet.
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

// appendKind appends a JSON object and the kind of u. data must have at least one member. If a key occurs
// twice, the last one counts.
func appendKind(to, data []byte, u *unstructured.Unstructured) []byte {
	version, _ := json.Marshal(u.GetAPIVersion()) // a string
	kind, _ := json.Marshal(u.GetKind())
	to = append(append(to, data[:len(data)-1]...), `,"apiVersion":`...)
	to = append(append(to, version...), `,"kind":`...)
	return append(append(to, kind...), '}')
}
