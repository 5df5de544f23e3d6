package wire

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
)

// PackedDecoder decodes the objects that a sink holds packed. Its methods are the functions of a
// [pack.Kind], and may be called by any goroutine. An object decodes to what a [Decoder] without a table
// of shared values has made of the same bytes. What it is made of stays the same for all runs of a source.
//
// Bytes that begin with a brace are JSON, and all others protobuf. [item.toPack] refuses bytes of which
// that is not true.
type PackedDecoder struct {
	decoder *Decoder
}

// NewPackedDecoder returns a decoder of a source's objects, without the fields of drop, if that is not nil.
func NewPackedDecoder(k Objects, drop *fields.Set) *PackedDecoder {
	return &PackedDecoder{decoder: NewDecoder(k, Sharing{}, drop)}
}

// Type returns the type of the decoded objects, such as *corev1.Pod.
func (d *PackedDecoder) Type() reflect.Type { return d.decoder.Type }

// Decode returns the object in data, of which it keeps no part. The form says whether the object is to
// have the kind that the bytes name: the object of an event has none, unless it is unstructured.
func (d *PackedDecoder) Decode(data []byte, f pack.Form) (any, error) {
	it, of := item{format: formatOf(data), data: data}, &ListHead{}
	if f == pack.Event {
		of = nil
	}
	return d.decoder.decode(it, of)
}

// Meta returns a [*metav1.ObjectMeta] with the name, namespace, UID, version, labels, finalizers,
// deletionTimestamp and deletionGracePeriodSeconds of the object in data. They equal those of the
// decoded object. Bytes that do not decode are an error, unless their damage is elsewhere.
func (d *PackedDecoder) Meta(data []byte, f pack.Form) (any, error) {
	obj, err := d.Decode(data, f)
	if err != nil {
		return nil, err
	}
	m := object.Meta(obj)
	if m == nil {
		return nil, fmt.Errorf("%w: a %T without metadata", ErrUnexpected, obj)
	}
	return partOf(m), nil
}

// partOf returns the part of an object's metadata that Meta returns.
func partOf(m metav1.Object) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(),
		Labels: m.GetLabels(), Finalizers: m.GetFinalizers(),
		DeletionTimestamp: m.GetDeletionTimestamp(), DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
	}
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
// be packed: its format does not show, or its list has not named the kind yet.
func (i item) toPack(obj runtime.Object, of *ListHead, buffer *[]byte) (data []byte, f pack.Form, ok bool) {
	if formatOf(i.data) != i.format {
		return nil, 0, false
	}
	if of == nil {
		return i.data, pack.Event, true
	}
	u, ok := obj.(*unstructured.Unstructured)
	switch {
	case !ok:
		return i.data, pack.Item, true
	case !of.isKnown():
		return i.data, pack.Item, u.GetKind() != "" || u.GetAPIVersion() != ""
	}
	kind, metadata, ok := jsondecode.Split(i.data)
	switch {
	case !ok || metadata == nil:
		return nil, 0, false
	case kind == metav1.TypeMeta{}:
		*buffer = appendKind((*buffer)[:0], i.data, u)
		return *buffer, pack.Item, true
	}
	return i.data, pack.Item, true
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
