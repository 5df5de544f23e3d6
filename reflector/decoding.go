package reflector

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// objectKind describes a source's objects, if the reflector decodes them.
type objectKind struct {
	object reflect.Type            // such as *corev1.Pod
	kind   schema.GroupVersionKind // empty where objects of any kind may come
	named  schema.GroupVersionKind // unless empty, the kind to set in each decoded object
	secret bool                    // the objects are Secrets, or their metadata
}

// secrets is the kind of the objects whose strings must not stay in memory longer than they do.
var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// isSecrets reports whether a resource is that of Secrets.
func isSecrets(r schema.GroupVersionResource) bool { return r.Group == "" && r.Resource == "secrets" }

var (
	unstructuredType = reflect.TypeFor[*unstructured.Unstructured]()
	metadataType     = reflect.TypeFor[*metav1.PartialObjectMetadata]()
)

// kindDecoder decodes objects of one kind, with the same result as client-go's client.
type kindDecoder struct {
	objectKind
	json     *jsondecode.Typed
	loose    *jsondecode.Unstructured // in place of json
	protobuf *protodecode.Decoder
	twins    *twins // nil unless objects are decoded twice, to be compared
	table    *share.Table
	times    *DecodeTimes  // nil if no times are wanted
	decoded  atomic.Uint64 // the number of objects decoded since times are taken
}

// sharing configures the values that objects of a kind may share.
type sharing struct {
	table  *share.Table // nil: nothing
	values bool         // more than strings
}

func newKindDecoder(k objectKind, s sharing, drop *fields.Set) *kindDecoder {
	d := &kindDecoder{objectKind: k, table: s.table}
	if verify.On && drop == nil {
		d.twins = &twins{table: s.table}
	}
	o := jsondecode.Options{Table: s.table, Values: s.values, Drop: drop, Secret: k.secret}
	if k.object == unstructuredType {
		d.loose = jsondecode.NewUnstructured(o)
		return d
	}
	object := k.object.Elem()
	d.json = jsondecode.NewTyped(object, o)
	d.protobuf = protodecode.New(object, protodecode.Options(o))
	return d
}

// name passes the key of the next object to the table of shared values.
func (d *kindDecoder) name(it item) {
	if d.table.DetectsWrites() {
		o, _ := it.identity()
		d.table.Name(o.key.String)
	}
}

// decode decodes an object of a list, or of a watch if of is nil. [ErrUnexpected] and errTable mean
// that it is of another kind; any other error, that it cannot be decoded.
func (d *kindDecoder) decode(it item, of *listHead) (obj runtime.Object, err error) {
	if obj, err = d.decodeGuarded(it, of); err != nil {
		return nil, err
	}
	if d.twins != nil {
		d.twins.check(it, obj)
	}
	if !d.named.Empty() {
		obj.GetObjectKind().SetGroupVersionKind(d.named)
	}
	return obj, nil
}

// decodeGuarded returns an error if a user's UnmarshalJSON panics. In a program that checks itself,
// client-go's decoder has to panic as well.
func (d *kindDecoder) decodeGuarded(it item, of *listHead) (obj runtime.Object, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if verify.On && !d.panicsInClient(it) {
			panic(p)
		}
		obj, err = nil, fmt.Errorf("decoding an object: %w: %v\n%s", ErrPanic, p, debug.Stack())
	}()
	switch {
	case d.loose != nil && it.format == formatJSON:
		obj, err = d.unstructured(it.data, of)
	case it.format == formatJSON:
		obj, err = d.typedJSON(it.data, of != nil)
	case d.protobuf == nil:
		err = fmt.Errorf("%w: protobuf for an unstructured object", errForeign)
	default:
		obj, err = asObject(d.protobuf.Decode(it.data))
	}
	return obj, err
}

func (d *kindDecoder) panicsInClient(it item) (panics bool) {
	defer func() { panics = recover() != nil }()
	_, _ = decodeAsClient(it, reflect.New(d.object.Elem()).Interface().(runtime.Object))
	return false
}

// asObject converts a decoder's result.
func asObject(decoded any, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return decoded.(runtime.Object), nil // the type was checked when the source was made
}

// unstructured decodes an object without a Go type. An item without a kind gets its kind from the
// list, or an empty one until that has been read as a whole.
func (d *kindDecoder) unstructured(data []byte, of *listHead) (runtime.Object, error) {
	fields, err := d.loose.Decode(data)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: fields}
	switch {
	case u.GetKind() != "", of != nil && u.GetAPIVersion() != "":
		return u, nil
	case of == nil:
		return nil, errNoKind
	case !of.isKnown():
		of = &listHead{}
	}
	of.setKind(u)
	return u, nil
}

// setKind gives an item the kind of its list.
func (h *listHead) setKind(u *unstructured.Unstructured) {
	u.SetKind(strings.TrimSuffix(h.Kind, "List"))
	u.SetAPIVersion(h.APIVersion)
}

// isKnown reports whether the part of the list with its kind has been read.
func (h *listHead) isKnown() bool { return h.Kind != "" && h.APIVersion != "" }

// typedJSON decodes an object with a Go type. As in client-go, the kind of an event's object is
// cleared, and the item of a list keeps its kind.
func (d *kindDecoder) typedJSON(data []byte, inList bool) (runtime.Object, error) {
	obj, err := asObject(d.json.Decode(data))
	if err != nil || inList {
		return obj, err
	}
	var t metav1.TypeMeta
	t.APIVersion, t.Kind = obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if err := d.checkKind(t); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj, nil
}

// check returns an error for an event of another kind.
func (d *kindDecoder) check(it item) error {
	if it.typeMeta == (metav1.TypeMeta{}) {
		return nil
	}
	return d.checkKind(it.typeMeta)
}

func (d *kindDecoder) checkKind(got metav1.TypeMeta) error {
	kind := schema.FromAPIVersionAndKind(got.APIVersion, got.Kind)
	if isTable(kind) {
		return errTable
	}
	if !d.kind.Empty() && kind != d.kind {
		return fmt.Errorf("%w: a %v instead of a %v", ErrUnexpected, kind, d.kind)
	}
	return nil
}

// checkList returns an error unless the answer is a list of the kind. {} is one for a typed client: of
// a server without versions, an empty list (D26).
func (d *kindDecoder) checkList(h listHead) error {
	got := schema.FromAPIVersionAndKind(cmp.Or(h.APIVersion, d.kind.GroupVersion().String()), h.Kind)
	if !d.kind.Empty() {
		got.Kind = cmp.Or(got.Kind, d.kind.Kind+"List") // a client with a Go type needs no kind
	}
	want := d.kind
	want.Kind += "List"
	switch {
	case isTable(got):
		return errTable
	case d.loose == nil && h.TypeMeta == (metav1.TypeMeta{}) && !h.hasItems:
		return nil
	case !h.hasItems, !d.kind.Empty() && got != want:
		return fmt.Errorf("%w: %q of %q instead of a list of %v", ErrBadAnswer, h.Kind, h.APIVersion, d.object)
	}
	return nil
}

// bookmark decodes the metadata of a bookmark.
func (d *kindDecoder) bookmark(it item) (runtime.Object, error) {
	m := &metav1.PartialObjectMetadata{}
	if err := it.unmarshal(m); err != nil {
		return nil, fmt.Errorf("a bookmark: %w", err)
	}
	return m, nil
}

// status decodes the object of an error.
func (d *kindDecoder) status(it item) (runtime.Object, error) {
	s := &metav1.Status{}
	if err := it.unmarshal(s); err != nil {
		return nil, fmt.Errorf("an error event: %w", err)
	}
	return s, nil
}

// unmarshal decodes an item by generated code, or by reflection. As in client-go, the case of names counts.
func (i item) unmarshal(into interface{ Unmarshal([]byte) error }) error {
	if i.format == formatProtobuf {
		return into.Unmarshal(i.data)
	}
	return json.Unmarshal(i.data, into)
}
