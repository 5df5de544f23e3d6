package engine

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// ObjectType is the type of the objects that an informer accepts. The zero value accepts any object.
type ObjectType struct {
	// goType is the Go type of the objects; nil for any type.
	goType reflect.Type
	// kind is the kind of unstructured objects; empty for any kind. Only objects of a watch are checked for
	// it.
	kind schema.GroupVersionKind
	// check returns an error for an object of another type, wherever it comes from. If check is nil, only
	// objects of a watch are checked, as in client-go.
	check func(obj any) error
}

// Exactly returns the type of an informer of a Go type.
func Exactly(goType reflect.Type) ObjectType {
	fits := func(got reflect.Type) bool { return got == goType }
	if goType.Kind() == reflect.Interface {
		fits = func(got reflect.Type) bool { return got != nil && got.Implements(goType) }
	}
	return ObjectType{goType: goType, check: func(obj any) error {
		if !fits(reflect.TypeOf(obj)) {
			return TypeError(goType, obj)
		}
		return nil
	}}
}

// Like returns the type of an informer that client-go's constructors make from an example object: the
// example's Go type and, if it is unstructured, its kind.
func Like(example any) ObjectType {
	goType, kind := object.Like(example)
	return ObjectType{goType: goType, kind: kind}
}

// LikeExactly is Like for an informer that leaves out objects of another Go type.
func LikeExactly(example any) ObjectType {
	t := Like(example)
	t.check = Exactly(t.goType).check
	return t
}

// name returns the default name of an informer of the type.
func (t ObjectType) name() string {
	if t.goType == nil {
		return reflect.TypeFor[any]().String()
	}
	return t.goType.String()
}

// Is reports whether the informer accepts only objects of a Go type.
func (t ObjectType) Is(goType reflect.Type) bool { return t.check != nil && t.goType == goType }

// watched returns the Go type that a reflector requires of the objects of a watch; nil if it accepts several
// types.
func (t ObjectType) watched() reflect.Type {
	if t.goType == nil || t.goType.Kind() == reflect.Interface {
		return nil
	}
	return t.goType
}

// fits returns the check of decoded objects; nil if all types are accepted.
func (t ObjectType) fits() func(runtime.Object) error {
	if t.check == nil {
		return nil
	}
	return func(obj runtime.Object) error { return t.check(obj) }
}

// Validate returns an error for an object of a type that cannot be stored.
func (t ObjectType) Validate(obj any) error {
	if t.check == nil {
		return nil
	}
	return t.check(obj)
}

// TypeError returns an ErrType with the expected type and the actual one.
func TypeError(want reflect.Type, got any) error {
	return fmt.Errorf("%w: want %v, got %T", ErrType, want, got)
}
