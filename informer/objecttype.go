package informer

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// objectType is the type of an informer's objects. The zero value accepts any.
type objectType struct {
	// goType is the Go type of the objects; nil for any.
	goType reflect.Type
	// kind is the kind of unstructured objects, checked in a watch only; empty for any.
	kind schema.GroupVersionKind
	// check refuses objects of another type, from any origin. If it is nil, only watches are
	// checked, as in client-go, and everything else is stored.
	check func(obj any) error
}

// typeOf returns the type of an informer of Ts.
func typeOf[T any]() objectType {
	return objectType{goType: reflect.TypeFor[T](), check: func(obj any) error {
		if _, ok := obj.(T); !ok {
			return typeError(reflect.TypeFor[T](), obj)
		}
		return nil
	}}
}

// exactly returns the type of an informer for a Go type known only at run time.
func exactly(goType reflect.Type) objectType {
	fits := func(got reflect.Type) bool { return got == goType }
	if goType.Kind() == reflect.Interface {
		fits = func(got reflect.Type) bool { return got != nil && got.Implements(goType) }
	}
	return objectType{goType: goType, check: func(obj any) error {
		if !fits(reflect.TypeOf(obj)) {
			return typeError(goType, obj)
		}
		return nil
	}}
}

// like returns the type of an informer made from an example, as by client-go's constructors: the
// example's type and, for unstructured objects, its kind.
func like(example any) objectType {
	goType, kind := object.Like(example)
	return objectType{goType: goType, kind: kind}
}

// name returns the default name of an informer of the type.
func (t *objectType) name() string {
	if t.goType == nil {
		return reflect.TypeFor[any]().String()
	}
	return t.goType.String()
}

// is reports whether every object accepted is of a Go type.
func (t *objectType) is(goType reflect.Type) bool { return t.check != nil && t.goType == goType }

// watched returns the type that a reflector requires of watched objects, nil if several types are
// accepted.
func (t *objectType) watched() reflect.Type {
	if t.goType == nil || t.goType.Kind() == reflect.Interface {
		return nil
	}
	return t.goType
}

// refuse returns the reason why an object cannot be stored, nil if it can.
func (t *objectType) refuse(obj any) error {
	if t.check == nil {
		return nil
	}
	return t.check(obj)
}

// typeError names the wanted and the received type.
func typeError(want reflect.Type, got any) error {
	return fmt.Errorf("%w: want %v, got %T", ErrType, want, got)
}
