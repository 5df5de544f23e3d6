package wire

import (
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
)

// metaReader decodes only the metadata of objects. It leaves unusual objects to the decoder of whole
// objects.
type metaReader struct {
	json     *jsondecode.Typed    // nil if that decoder must read JSON
	protobuf *protodecode.Decoder // nil if that decoder must read protobuf
	loose    bool                 // the objects are unstructured
}

// notRead lists the fields of ObjectMeta that [partOf] does not return.
var notRead = [...]string{"generateName", "selfLink", "generation", "creationTimestamp", "annotations", "ownerReferences", "managedFields"}

// newMetaReader returns a reader for objects of a type, without the fields of drop. It leaves a type to the
// decoder if the metadata is not an ObjectMeta, if the type decodes itself, or if drop has a metadata field
// that partOf returns. drop never has the identity, deletionTimestamp or finalizers.
func newMetaReader(object reflect.Type, drop *fields.Set) (r metaReader) {
	metadata, _ := drop.Of("metadata")
	for _, name := range [...]string{"labels", "deletionGracePeriodSeconds"} {
		if below, leftOut := metadata.Of(name); leftOut || below != nil {
			return r
		}
	}
	rest, _ := fields.Parse(notRead[:]...) // all of them are allowed
	r.loose = object == Unstructured
	t := gotype.Of(object.Elem())
	if r.loose || t.Decodes&(gotype.JSON|gotype.Text) == 0 && !t.OddJSON && slices.ContainsFunc(t.Members, func(m gotype.Member) bool {
		return m.Name == "metadata" && m.Type.Go == gotype.ObjectMeta
	}) {
		r.json = jsondecode.NewTyped(gotype.ObjectMeta, jsondecode.Options{Drop: rest})
	}
	if t.Message && slices.ContainsFunc(t.Fields, func(f gotype.Field) bool {
		return f.Number == objectMetadata && f.Type.Go == gotype.ObjectMeta
	}) {
		r.protobuf = protodecode.New(gotype.ObjectMeta, protodecode.Options{Drop: rest})
	}
	return r
}

// read returns the metadata of an object, or nil if the decoder must read it.
func (r *metaReader) read(data []byte) *metav1.ObjectMeta {
	switch {
	case formatOf(data) == formatProtobuf && r.protobuf != nil:
		return r.readProtobuf(data)
	case formatOf(data) == formatJSON && r.json != nil:
		return r.readJSON(data)
	}
	return nil
}

// readProtobuf reads an object whose metadata is a single field.
func (r *metaReader) readProtobuf(data []byte) *metav1.ObjectMeta {
	var metadata []byte
	pieces := 0
	err := eachField(data, objectMetadata, func(_ protowire.Number, value []byte) {
		metadata = value
		pieces++
	})
	if err != nil || pieces != 1 {
		return nil
	}
	m, err := r.protobuf.Decode(metadata)
	if err != nil {
		return nil
	}
	return m.(*metav1.ObjectMeta)
}

// readJSON reads an object with one metadata member. It leaves two unstructured objects to the decoder. One has
// null among its finalizers: an ObjectMeta reads "", but an unstructured object then has no finalizers. The
// other has a deletionTimestamp in the year 1, which an unstructured object does not have.
func (r *metaReader) readJSON(data []byte) *metav1.ObjectMeta {
	metadata, ok := jsondecode.Metadata(data)
	if !ok {
		return nil
	}
	decoded, ok := r.json.DecodePlain(metadata)
	if !ok {
		return nil
	}
	m := decoded.(*metav1.ObjectMeta)
	if r.loose && (slices.Contains(m.Finalizers, "") || m.DeletionTimestamp != nil && m.DeletionTimestamp.IsZero()) {
		return nil
	}
	return m
}

// partOf returns the metadata fields that Meta returns.
func partOf(m metav1.Object) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(),
		Labels: m.GetLabels(), Finalizers: m.GetFinalizers(),
		DeletionTimestamp: m.GetDeletionTimestamp(), DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
	}
}
