package sharepass

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A Pass lets the objects of one kind share values after their transform.
type Pass struct {
	table *share.Table
	walk  walk // used under the table's lock
}

// New returns a pass with a table of values. With a nil table it shares nothing.
func New(t *share.Table) *Pass { return &Pass{table: t} }

// Share makes an object share values with earlier ones. It does so only if the transform returned
// the pointer that it got: any other object may be somebody else's memory.
func (p *Pass) Share(decoded, result any) {
	v := reflect.ValueOf(result)
	if p.table == nil || v.Kind() != reflect.Pointer || v.IsNil() || decoded != result {
		return
	}
	p.table.Lock()
	defer p.table.Unlock()
	defer p.walk.reset()

	if u, ok := result.(*unstructured.Unstructured); ok {
		p.unstructured(u)
	} else if v.Elem().Kind() == reflect.Struct {
		p.typed(v.Elem())
	}
}

func (p *Pass) typed(object reflect.Value) {
	w := &p.walk
	w.leaves(object.Addr().UnsafePointer(), planOf(object.Type()), 0)
	if w.failed {
		return
	}
	for i := 0; i < len(w.nodes); i = w.nodes[i].next {
		if v, _ := p.place(i, false); v.IsValid() {
			at(object, w.nodes[i].path).Set(v)
		}
	}
}

// unstructured gives an object a new root map if it shares something: somebody may be reading the
// old one.
func (p *Pass) unstructured(u *unstructured.Unstructured) {
	w := &p.walk
	w.object(u.Object, node{}, plain)
	if w.failed || len(w.nodes) == 0 {
		return
	}
	if v, _ := p.place(0, false); v.IsValid() {
		u.Object, _ = v.Interface().(map[string]any)
	}
}
