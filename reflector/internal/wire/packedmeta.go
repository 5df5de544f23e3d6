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

// metaReader reads the metadata of objects without the rest. It leaves what is not plain to the decoder
// of the whole object.
type metaReader struct {
	json     *jsondecode.Typed    // nil if the decoder has to read JSON
	protobuf *protodecode.Decoder // likewise
	loose    bool                 // the objects are unstructured
}

// notRead are the fields of an ObjectMeta beside those that [partOf] returns.
var notRead = [...]string{"generateName", "selfLink", "generation", "creationTimestamp", "annotations", "ownerReferences", "managedFields"}

// newMetaReader returns a reader for objects of a type, without the fields of drop. A type whose metadata
// is no ObjectMeta, or that decodes itself, is left to the decoder, and so is everything if a field of
// the metadata that is read is left out: identity, deletionTimestamp and finalizers never are.
func newMetaReader(object reflect.Type, drop *fields.Set) (r metaReader) {
	metadata, _ := drop.Of("metadata")
	for _, name := range [...]string{"labels", "deletionGracePeriodSeconds"} {
		if below, leftOut := metadata.Of(name); leftOut || below != nil {
			return r
		}
	}
	rest, _ := fields.Parse(notRead[:]...) // none of them is refused
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

// read returns the metadata of an object, or nil for an object that is left to the decoder.
func (r *metaReader) read(data []byte) *metav1.ObjectMeta {
	switch {
	case formatOf(data) == formatProtobuf && r.protobuf != nil:
		return r.readProtobuf(data)
	case formatOf(data) == formatJSON && r.json != nil:
		return r.readJSON(data)
	}
	return nil
}

// readProtobuf reads an object that has its metadata in one piece.
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

// readJSON reads an object whose first metadata is the only one. An unstructured object has no finalizers if one of
// them is null, which an ObjectMeta reads as "", and no deletion in the year 1.
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

// partOf returns the part of an object's metadata that Meta returns.
func partOf(m metav1.Object) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(),
		Labels: m.GetLabels(), Finalizers: m.GetFinalizers(),
		DeletionTimestamp: m.GetDeletionTimestamp(), DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
	}
}
