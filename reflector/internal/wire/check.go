package wire

import (
	"reflect"
	"sync/atomic"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// With self-checks, the first firstChecked objects of a kind are decoded twice. Later, one in
	// checkEvery is.
	firstChecked = 100
	checkEvery   = 1000
)

// checker decodes some objects a second time with client-go's decoder, in a program with self-checks.
type checker struct {
	decoder *Decoder
	decoded atomic.Int64
}

// check panics if client-go decodes the item to a different object.
func (t *checker) check(it item, of *ListHead, obj runtime.Object) {
	if n := t.decoded.Add(1); n > firstChecked && n%checkEvery != 0 {
		return
	}
	theirs, err := decodeAsClient(it, obj)
	verify.That(err == nil, "client-go cannot decode this %T: %v", obj, err)
	verify.That(apiequality.Semantic.DeepEqual(obj, theirs) || t.isSpoilt(it, of, theirs),
		"client-go decodes this %T differently:\n%#v\n%#v", obj, obj, theirs)
}

// isSpoilt reports whether an object is correct if it shares no values. Then a program has written into
// shared values.
func (t *checker) isSpoilt(it item, of *ListHead, theirs runtime.Object) bool {
	unshared := NewDecoder(t.decoder.Objects, Sharing{}, nil)
	obj, err := unshared.decodeGuarded(it, of)
	return err == nil && apiequality.Semantic.DeepEqual(obj, theirs)
}

// decodeAsClient decodes an item into a new object with the type of like.
func decodeAsClient(it item, like runtime.Object) (runtime.Object, error) {
	if u, ok := like.(*unstructured.Unstructured); ok {
		theirs := &unstructured.Unstructured{}
		if err := json.Unmarshal(it.data, &theirs.Object); err != nil {
			return nil, err
		}
		if theirs.GetKind() == "" && theirs.GetAPIVersion() == "" { // then the list has the kind
			theirs.SetAPIVersion(u.GetAPIVersion())
			theirs.SetKind(u.GetKind())
		}
		return theirs, nil
	}
	theirs := reflect.New(reflect.TypeOf(like).Elem()).Interface().(runtime.Object) // the type of like implements runtime.Object
	var err error
	if it.format == formatJSON {
		err = json.Unmarshal(it.data, theirs)
	} else {
		err = theirs.(interface{ Unmarshal([]byte) error }).Unmarshal(it.data) // all types in protobuf have it
	}
	setKind(theirs, like)
	return theirs, err
}

// setKind gives an object the exact apiVersion and kind of another object with its type. An apiVersion
// may be empty or have an empty group, which a GroupVersionKind does not preserve.
func setKind(obj, like runtime.Object) {
	if is, of := reflect.ValueOf(obj).Elem(), reflect.ValueOf(like).Elem(); is.Kind() == reflect.Struct {
		if f := of.FieldByName("TypeMeta"); f.IsValid() {
			is.FieldByName("TypeMeta").Set(f)
			return
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(like.GetObjectKind().GroupVersionKind())
}
