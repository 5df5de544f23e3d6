package informer

import (
	"context"
	"reflect"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// JoinShared is [Join] for a Go type known only at run time, and for sources whose clients come late or
// never. [As] returns the informer's typed view. A factory of all kinds makes its informers this way.
//
// The goroutine of each source's reflector calls its function once, when the informer runs. If the function
// returns an error or panics, the run ends with that error, and with [ErrNoSource] for a zero source. Run
// waits for a function that does not return.
func JoinShared(sources []func() (reflector.Source, error), goType reflect.Type, o Options[any]) Shared {
	return newViews(engine.New(o.untyped(), engine.Exactly(goType), engine.LateSources(sources))).shared
}

// Shared is client-go's SharedIndexInformer, with more methods of this module's informers.
type Shared interface {
	cache.SharedIndexInformer
	// Start is [Informer.Run] in the background: wait returns when Run would, with its error.
	Start(ctx context.Context) (wait func() error, err error)
	// Status is [Informer.Status].
	Status() Status
	// Inspector is [Informer.Inspector].
	Inspector() *Inspector
	// Done is [Informer.Done].
	Done() <-chan struct{}
	// WaitSynced is [Informer.WaitSynced].
	WaitSynced(ctx context.Context) error
	// WaitDelivered is [Informer.WaitDelivered].
	WaitDelivered(ctx context.Context, version string) error
	// WaitFresh is [Informer.WaitFresh].
	WaitFresh(ctx context.Context) error

	// lend returns a view that owns its handlers.
	lend(by *engine.Owner) *untypedView
}

// As returns the typed view of an informer that has client-go's interface: the same store and the same run.
// It returns false for an informer of another type or another module.
func As[T Object](i cache.SharedIndexInformer) (*Informer[T], bool) {
	v := viewOf(i, reflect.TypeFor[T]())
	return view[T](v), v != nil
}

// IndexerOf returns the store of an informer for which [As] of the type returns true, and false for other
// informers. Code that makes listers of many types uses it, because each As compiles all methods of an
// [Informer].
func IndexerOf(i cache.SharedIndexInformer, goType reflect.Type) (*indexer.Indexer[any], bool) {
	v := viewOf(i, goType)
	if v == nil {
		return nil, false
	}
	return v.core.Writer().Indexer(), true
}

// viewOf returns the view of an informer of this module whose objects are all of a Go type, or nil.
func viewOf(i cache.SharedIndexInformer, goType reflect.Type) *untypedView {
	var v *untypedView
	switch ours := unwrapped(i).(type) {
	case *clientgoInformer:
		v = &ours.view
	case *clientgoLent:
		v = &ours.view
	}
	if v == nil || !v.core.Objects().Is(goType) {
		return nil
	}
	return v
}

// Shared returns the informer as client-go's SharedIndexInformer: the same store and the same run.
func (i *Informer[T]) Shared() cache.SharedIndexInformer { return i.shared }

// clientgoLent is a view of an informer that owns the handlers added through it.
type clientgoLent struct {
	*clientgoInformer
	view untypedView // the typed one
}

func (i *clientgoInformer) lend(by *engine.Owner) *untypedView {
	l := &clientgoLent{clientgoInformer: i}
	l.view = untypedView{i.core, l, by}
	return &l.view
}

func (l *clientgoLent) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return l.add(h, cache.HandlerOptions{}, l.view.owner)
}

func (l *clientgoLent) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return l.add(h, cache.HandlerOptions{ResyncPeriod: &resync}, l.view.owner)
}

func (l *clientgoLent) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return l.add(h, o, l.view.owner)
}

// newViews makes client-go's view and the typed view of a core, and connects the core with client-go's.
func newViews(c *engine.Core) *untypedView { return &newClientgoInformer(c).view }

// SharedOf returns an informer of this module that has client-go's interface, and false for an informer of
// another module. It unwraps the typed views that client-go's generated accessors and constructors return.
func SharedOf(i cache.SharedIndexInformer) (Shared, bool) {
	ours, ok := unwrapped(i).(Shared)
	return ours, ok
}

// unwrapped returns the informer inside client-go's typed views. It uses reflection, because the type of
// these views is not exported and they have no method in common.
func unwrapped(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	for {
		v := reflect.ValueOf(i)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct || v.Elem().Type().PkgPath() != clientgoPackage {
			return i
		}
		inner, ok := v.Elem().Type().FieldByName("SharedIndexInformer")
		if !ok || !inner.Anonymous {
			return i
		}
		next, ok := v.Elem().FieldByIndex(inner.Index).Interface().(cache.SharedIndexInformer)
		if !ok { // nil
			return i
		}
		i = next
	}
}

// clientgoPackage is the package of client-go's typed views.
var clientgoPackage = reflect.TypeFor[cache.ListWatch]().PkgPath()
