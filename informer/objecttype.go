package informer

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// objectType says which objects an informer is for. The zero value is any.
type objectType struct {
	// goType is what the objects are; nil for anything.
	goType reflect.Type
	// kind is what unstructured objects are, of a watch only; empty for any.
	kind schema.GroupVersionKind
	// check refuses what is not of the type, wherever it comes from. Nil: only a
	// watch is looked at, as in client-go, and everything else is stored.
	check func(obj any) error
}

// typeOf is the type of an informer of Ts.
func typeOf[T any]() objectType {
	return objectType{goType: reflect.TypeFor[T](), check: func(obj any) error {
		if _, ok := obj.(T); !ok {
			return typeError(reflect.TypeFor[T](), obj)
		}
		return nil
	}}
}

// exactly is the type of an informer whose Go type only the running program knows.
func typeExactly(goType reflect.Type) objectType {
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

// like is the type of an informer that client-go's constructors make of an
// example: of its type and, where it is unstructured, of its kind.
func typeLike(example any) objectType {
	goType, kind := object.Like(example)
	return objectType{goType: goType, kind: kind}
}

// name names an informer of the type that has no other name.
func (t *objectType) name() string {
	if t.goType == nil {
		return reflect.TypeFor[any]().String()
	}
	return t.goType.String()
}

// is tells whether every object that the informer takes is of a type.
func (t *objectType) is(goType reflect.Type) bool { return t.check != nil && t.goType == goType }

// watched returns the type that a reflector requires of the objects of a watch:
// nil where different types will do.
func (t *objectType) watched() reflect.Type {
	if t.goType == nil || t.goType.Kind() == reflect.Interface {
		return nil
	}
	return t.goType
}

// refuse returns why an object cannot be stored, nil if it can.
func (t *objectType) validate(obj any) error {
	if t.check == nil {
		return nil
	}
	return t.check(obj)
}

// typeError names the type that was wanted and the one that came.
func typeError(want reflect.Type, got any) error {
	return fmt.Errorf("%w: want %v, got %T", ErrType, want, got)
}
