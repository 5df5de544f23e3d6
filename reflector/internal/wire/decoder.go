package wire

import (
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Objects describes the objects of a source.
type Objects struct {
	Type   reflect.Type            // for instance *corev1.Pod
	Kind   schema.GroupVersionKind // empty if objects of any kind may arrive
	Named  schema.GroupVersionKind // the kind to set in each decoded object, unless empty
	Secret bool                    // the objects are Secrets, or their metadata
}

// Unstructured is the type of objects that are decoded without a Go type.
var Unstructured = reflect.TypeFor[*unstructured.Unstructured]()

// Decoder decodes the objects of a source, with the same result as client-go's client. It is safe for
// concurrent use.
type Decoder struct {
	Objects
	json     *jsondecode.Typed
	loose    *jsondecode.Unstructured // used instead of json
	protobuf *protodecode.Decoder
	checker  *checker // nil unless objects are decoded twice for comparison

	Timed   func(took time.Duration) // called for one object in timedEvery, unless nil
	decoded atomic.Uint64            // the number of objects decoded with Timed
}

// timedEvery objects are decoded for each timed one.
const timedEvery = 64

// Sharing configures the values that objects of a kind may share.
type Sharing struct {
	Table  *share.Table // if nil, objects share nothing
	Values bool         // nested values are shared, not only strings
}

// NewDecoder returns a decoder that drops the fields in drop, which may be nil.
func NewDecoder(k Objects, s Sharing, drop *fields.Set) *Decoder {
	d := &Decoder{Objects: k}
	if verify.On && drop == nil {
		d.checker = &checker{decoder: d}
	}
	o := jsondecode.Options{Table: s.Table, Values: s.Values, Drop: drop, Secret: k.Secret}
	if k.Type == Unstructured {
		d.loose = jsondecode.NewUnstructured(o)
		return d
	}
	object := k.Type.Elem()
	d.json = jsondecode.NewTyped(object, o)
	d.protobuf = protodecode.New(object, protodecode.Options(o))
	return d
}

// decodeTimed decodes an object. If times are wanted, it times one object in timedEvery.
func (d *Decoder) decodeTimed(it item, of *ListHead) (runtime.Object, error) {
	if d.Timed == nil || d.decoded.Add(1)%timedEvery != 0 {
		return d.decode(it, of)
	}
	began := time.Now()
	obj, err := d.decode(it, of)
	d.Timed(time.Since(began))
	return obj, err
}

// DecodeAnswer decodes the object in the answer to a write, as if a watch had sent it. kind is the kind
// in a protobuf envelope, and otherwise empty.
func (d *Decoder) DecodeAnswer(data []byte, protobuf bool, kind metav1.TypeMeta) (runtime.Object, error) {
	it := item{format: formatJSON, data: data}
	if protobuf {
		it.format, it.typeMeta = formatProtobuf, kind
	}
	if err := d.check(it); err != nil {
		return nil, err
	}
	return d.decode(it, nil)
}

// decode decodes an object of a list, or of a watch if of is nil. The errors [ErrUnexpected] and
// [ErrTable] mean that the object has another kind. Any other error means that it cannot be decoded.
func (d *Decoder) decode(it item, of *ListHead) (obj runtime.Object, err error) {
	if obj, err = d.decodeGuarded(it, of); err != nil {
		if kind := kindInAnyCase(it.data); of == nil && it.format == formatJSON && kind != (metav1.TypeMeta{}) {
			err = cmp.Or(d.checkKind(kind), err) // an object that does not fit the Go type may have another kind
		}
		return nil, err
	}
	if d.checker != nil {
		d.checker.check(it, of, obj)
	}
	if !d.Named.Empty() {
		obj.GetObjectKind().SetGroupVersionKind(d.Named)
	}
	return obj, nil
}

// decodeGuarded returns an error if a user's UnmarshalJSON panics. With self-checks, client-go's decoder
// has to panic as well.
func (d *Decoder) decodeGuarded(it item, of *ListHead) (obj runtime.Object, err error) {
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
		err = fmt.Errorf("%w: protobuf for an unstructured object", ErrBadAnswer)
	default:
		obj, err = asObject(d.protobuf.Decode(it.data))
	}
	return obj, err
}

func (d *Decoder) panicsInClient(it item) (panics bool) {
	defer func() { panics = recover() != nil }()
	_, _ = decodeAsClient(it, reflect.New(d.Type.Elem()).Interface().(runtime.Object))
	return false
}

// asObject converts a decoder's result.
func asObject(decoded any, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return decoded.(runtime.Object), nil // the type was checked when the source was made
}

// unstructured decodes an object without a Go type. An item without a kind gets the kind of the list, or
// an empty kind if the list's kind has not been read yet.
func (d *Decoder) unstructured(data []byte, of *ListHead) (runtime.Object, error) {
	fields, err := d.loose.Decode(data)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: fields}
	switch {
	case u.GetKind() == "" && of == nil:
		return nil, errNoKind
	case of == nil:
		return u, d.checkKind(metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()})
	case u.GetKind() != "", u.GetAPIVersion() != "":
		return u, nil
	case !of.isKnown():
		of = &ListHead{}
	}
	of.setKind(u)
	return u, nil
}

// setKind gives an item the kind of the items in its list.
func (h *ListHead) setKind(u *unstructured.Unstructured) {
	u.SetKind(strings.TrimSuffix(h.Kind, "List"))
	u.SetAPIVersion(h.APIVersion)
}

// isKnown reports whether the list's kind has been read.
func (h *ListHead) isKnown() bool { return h.Kind != "" && h.APIVersion != "" }

// typedJSON decodes an object with a Go type. As in client-go, the kind of an event's object is cleared,
// and an item of a list keeps its kind.
func (d *Decoder) typedJSON(data []byte, inList bool) (runtime.Object, error) {
	obj, err := asObject(d.json.Decode(data))
	if err != nil || inList {
		return obj, err
	}
	var t metav1.TypeMeta
	t.APIVersion, t.Kind = obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if err := d.checkKind(t); err != nil && d.checkKind(kindInAnyCase(data)) != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj, nil
}

// kindInAnyCase reads the kind of an event's object like client-go, which ignores the case of these two
// names.
func kindInAnyCase(data []byte) (t metav1.TypeMeta) {
	_ = stdjson.Unmarshal(data, &t) // a member of another type counts as missing
	return t
}

// check returns an error for an event of another kind.
func (d *Decoder) check(it item) error {
	if it.typeMeta == (metav1.TypeMeta{}) {
		return nil
	}
	return d.checkKind(it.typeMeta)
}

// checkKind returns an error if the kind is not the source's. A Status or a Table is never an object.
func (d *Decoder) checkKind(got metav1.TypeMeta) error {
	kind := schema.FromAPIVersionAndKind(got.APIVersion, got.Kind)
	switch {
	case IsTable(kind):
		return ErrTable
	case got == statusMeta, !d.Kind.Empty() && kind != d.Kind:
		return fmt.Errorf("%w: a %v instead of a %v", ErrUnexpected, kind, d.Type)
	}
	return nil
}

// checkList returns an error unless the answer is a list of the kind. A list need not have items. For a
// typed client, {} is an empty list from a server without versions (D26).
func (d *Decoder) checkList(h ListHead) error {
	got := schema.FromAPIVersionAndKind(cmp.Or(h.APIVersion, d.Kind.GroupVersion().String()), h.Kind)
	if !d.Kind.Empty() {
		got.Kind = cmp.Or(got.Kind, d.Kind.Kind+"List") // a client with a Go type needs no kind
	}
	want := d.Kind
	want.Kind += "List"
	switch {
	case IsTable(got):
		return ErrTable
	case d.loose == nil && h.TypeMeta == (metav1.TypeMeta{}) && !h.hasItems:
		return nil
	case !h.hasItems && !strings.HasSuffix(got.Kind, "List"), !d.Kind.Empty() && got != want:
		return fmt.Errorf("%w: %q of %q instead of a list of %v", ErrBadAnswer, h.Kind, h.APIVersion, d.Type)
	}
	return nil
}

// bookmark decodes the metadata of a bookmark. If a member occurs twice, the last one counts in an
// unstructured object, and both are merged in other objects, as in all objects of the source.
func (d *Decoder) bookmark(it item) (obj runtime.Object, err error) {
	if u := (&unstructured.Unstructured{}); d.loose != nil && it.format == formatJSON {
		obj, err = u, json.Unmarshal(it.data, &u.Object)
	} else {
		m := &metav1.PartialObjectMetadata{}
		obj, err = m, it.unmarshal(m)
	}
	if err != nil {
		return nil, fmt.Errorf("a bookmark: %w", err)
	}
	return obj, nil
}

// status decodes the object of an error event.
func (d *Decoder) status(it item) (runtime.Object, error) {
	s := &metav1.Status{}
	if err := it.unmarshal(s); err != nil {
		return nil, fmt.Errorf("error event: %w", err)
	}
	return s, nil
}

// unmarshal decodes an item by generated code or by reflection. As in client-go, the case of names
// matters.
func (i item) unmarshal(into interface{ Unmarshal([]byte) error }) error {
	if i.format == formatProtobuf {
		return into.Unmarshal(i.data)
	}
	return json.Unmarshal(i.data, into)
}

// IsTable reports whether a kind is a table, which servers make for kubectl.
func IsTable(k schema.GroupVersionKind) bool {
	return k.Kind == "Table" && (k.GroupVersion() == metav1.SchemeGroupVersion || k.GroupVersion() == metav1beta1.SchemeGroupVersion)
}
