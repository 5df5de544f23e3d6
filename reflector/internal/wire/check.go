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
	// firstChecked is the number of objects of a kind to decode twice in a program that checks
	// itself; of the later ones it is one in checkEvery.
	firstChecked = 100
	checkEvery   = 1000
)

// checker decodes some objects a second time with client-go's decoder, in a program that checks
// itself.
type checker struct {
	decoder *Decoder
	decoded atomic.Int64
}

// check panics if client-go decodes an item to another object.
func (t *checker) check(it item, of *ListHead, obj runtime.Object) {
	if n := t.decoded.Add(1); n > firstChecked && n%checkEvery != 0 {
		return
	}
	theirs, err := decodeAsClient(it, obj)
	verify.That(err == nil, "client-go does not decode this %T: %v", obj, err)
	verify.That(apiequality.Semantic.DeepEqual(obj, theirs) || t.isSpoilt(it, of, theirs),
		"client-go decodes this %T otherwise:\n%#v\n%#v", obj, obj, theirs)
}

// isSpoilt reports whether an object is right if it shares no values: a program has written into them.
func (t *checker) isSpoilt(it item, of *ListHead, theirs runtime.Object) bool {
	alone := NewDecoder(t.decoder.Objects, Sharing{}, nil)
	obj, err := alone.decodeGuarded(it, of)
	return err == nil && apiequality.Semantic.DeepEqual(obj, theirs)
}

// decodeAsClient decodes an item into a new object of the type of like.
func decodeAsClient(it item, like runtime.Object) (runtime.Object, error) {
	if u, ok := like.(*unstructured.Unstructured); ok {
		theirs := &unstructured.Unstructured{}
		if err := json.Unmarshal(it.data, &theirs.Object); err != nil {
			return nil, err
		}
		if theirs.GetKind() == "" && theirs.GetAPIVersion() == "" { // then the list names it
			theirs.SetAPIVersion(u.GetAPIVersion())
			theirs.SetKind(u.GetKind())
		}
		return theirs, nil
	}
	theirs := reflect.New(reflect.TypeOf(like).Elem()).Interface().(runtime.Object) // like is an object, so its type is one
	var err error
	if it.format == formatJSON {
		err = json.Unmarshal(it.data, theirs)
	} else {
		err = theirs.(interface{ Unmarshal([]byte) error }).Unmarshal(it.data) // what comes in protobuf has it
	}
	setKind(theirs, like)
	return theirs, err
}

// setKind gives an object the apiVersion and kind of another one of its type, to the letter: an apiVersion may be
// none, or have an empty group, which a GroupVersionKind does not keep.
func setKind(obj, like runtime.Object) {
	if is, of := reflect.ValueOf(obj).Elem(), reflect.ValueOf(like).Elem(); is.Kind() == reflect.Struct {
		if f := of.FieldByName("TypeMeta"); f.IsValid() {
			is.FieldByName("TypeMeta").Set(f)
			return
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(like.GetObjectKind().GroupVersionKind())
}
