package sharepass

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A Pass makes the objects of one kind share values after their transform.
type Pass struct {
	table *share.Table
	walk  walk // used under the table's lock
}

// New returns a pass with a table of values. With a nil table it shares nothing.
func New(t *share.Table) *Pass { return &Pass{table: t} }

// Share returns an object that shares values with earlier objects. It returns the transform's result if
// there is nothing to share, and otherwise a copy. It only does so if the transform returned the pointer
// that it got, because other code may be writing into any other object.
func (p *Pass) Share(decoded, result any) any {
	v := reflect.ValueOf(result)
	if p.table == nil || v.Kind() != reflect.Pointer || v.IsNil() || decoded != result {
		return result
	}
	p.table.Lock()
	defer p.table.Unlock()
	defer p.walk.reset()

	if u, ok := result.(*unstructured.Unstructured); ok {
		return p.unstructured(u)
	}
	if v.Elem().Kind() == reflect.Struct {
		return p.typed(v).Interface()
	}
	return result
}

// typed returns a pointer to the object, or to a copy with shared values.
func (p *Pass) typed(object reflect.Value) reflect.Value {
	w, t := &p.walk, object.Type().Elem()
	if gotype.Of(t).Private {
		return object
	}
	w.leaves(object.UnsafePointer(), planOf(t), 0)
	if w.failed {
		return object
	}
	own := object
	for i := 0; i < len(w.nodes); i = w.nodes[i].next {
		v, _ := p.place(i, false)
		if !v.IsValid() {
			continue
		}
		if own.UnsafePointer() == object.UnsafePointer() {
			own = copyOf(object)
		}
		at(own.Elem(), w.nodes[i].path).Set(v)
	}
	return own
}

func (p *Pass) unstructured(u *unstructured.Unstructured) *unstructured.Unstructured {
	w := &p.walk
	w.object(u.Object, node{}, gotype.Open)
	if w.failed || len(w.nodes) == 0 {
		return u
	}
	v, _ := p.place(0, false)
	if !v.IsValid() {
		return u
	}
	shared, _ := v.Interface().(map[string]any)
	return &unstructured.Unstructured{Object: shared}
}
