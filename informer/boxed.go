package informer

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Boxed is an informer of objects whose Go type was known only when the program
// ran. [As] shows it as a typed one. A factory of all kinds makes its informers
// so, since each type that [Join] is instantiated for costs compile time and
// space.
type Boxed struct{ core *core[any] }

// JoinBoxed returns an informer of what several sources hold, like [Join]; the
// objects are of the type of example.
func JoinBoxed(sources []reflector.Source, example runtime.Object, o Options[any]) *Boxed {
	c := newCore(o, sources...)
	c.clientgo.expect(example)
	c.clientgo.exact = true
	return &Boxed{c}
}

// Shared is [Informer.Shared].
func (b *Boxed) Shared() cache.SharedIndexInformer { return &clientgoInformer[any]{b.core} }

// Start is [Informer.Start].
func (b *Boxed) Start(ctx context.Context) (wait func(), err error) { return b.core.Start(ctx) }

// Done is [Informer.Done].
func (b *Boxed) Done() <-chan struct{} { return b.core.done() }

// As shows an informer of this module, in its client-go face, as a typed one:
// the same store, the same run. It returns false for one of another type, or of
// another module.
func As[T Object](i cache.SharedIndexInformer) (*Informer[T], bool) {
	switch i := i.(type) {
	case *clientgoInformer[T]:
		return informerOf(i.core), true
	case *clientgoInformer[any]:
		if c := i.core; c.clientgo.exact && c.clientgo.goType == reflect.TypeFor[T]() {
			objects := indexer.Unbox[T](c.writer.Indexer())
			return &Informer[T]{engine: c, boxed: c, indexer: objects, lister: lister.New(objects, c.options.Resource)}, true
		}
	}
	return nil, false
}

// boxedReceiver delivers what is stored as any to a handler of Ts.
type boxedReceiver[T any] struct {
	receiver[T]
	typed pair[T] // what is being delivered
}

// unboxing returns what delivers to a handler of Ts from a store of anything.
func unboxing[T any](h Handler[T]) receiver[any] {
	return &boxedReceiver[T]{receiver: nativeReceiver(h)}
}

func (r *boxedReceiver[T]) receive(p *pair[any], h header, key *indexer.Key) {
	r.typed.old, _ = p.old.(T)
	r.typed.new, _ = p.new.(T)
	defer func() { r.typed = pair[T]{} }() // it holds on to no object, whatever the handler does
	r.receiver.receive(&r.typed, h, key)
}

// boxIndexes makes indexes of anything out of indexes of Ts.
func boxIndexes[T any](indexes []indexer.Index[T]) []indexer.Index[any] {
	boxed := make([]indexer.Index[any], len(indexes))
	for i, ix := range indexes {
		boxed[i] = indexer.Index[any]{Name: ix.Name, ByNamespace: ix.ByNamespace}
		if ix.Append != nil {
			boxed[i].Append = func(values []string, obj any) []string {
				t, ok := obj.(T)
				if !ok {
					panic(typeError[T](obj))
				}
				return ix.Append(values, t)
			}
		}
	}
	return boxed
}

// boxTransform makes a transform of anything out of one of Ts.
func boxTransform[T any](transform func(T) (T, error)) func(any) (any, error) {
	if transform == nil {
		return nil
	}
	return func(obj any) (any, error) {
		t, ok := obj.(T)
		if !ok {
			return nil, typeError[T](obj)
		}
		return transform(t)
	}
}

// exactly makes a transform's results be of one type, if that is asked for.
func (f *clientgo) exactly(transform cache.TransformFunc) cache.TransformFunc {
	if !f.exact {
		return transform
	}
	return func(obj any) (any, error) {
		result, err := transform(obj)
		if err == nil && reflect.TypeOf(result) != f.goType {
			return nil, fmt.Errorf("%w: want %v, got %T", ErrType, f.goType, result)
		}
		return result, err
	}
}
