package informer

import (
	"cmp"
	"context"

	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// receiver calls the handler of a registration, of either API.
type receiver interface {
	delivery.Receiver
	// needs reports which objects of an event the handler takes, so that the others are not
	// decoded.
	needs(h eventlog.Header) (old, now bool)
	// name returns the handler's type with its package, or the place of its functions in the
	// source.
	name() string
}

// oneByOne holds the methods common to receivers of single changes.
type oneByOne struct{}

func (oneByOne) AtOnce() int                                 { return 1 }
func (oneByOne) Context(run context.Context) context.Context { return run }

// typedReceiver delivers to a [Handler].
type typedReceiver[T any] struct {
	oneByOne
	handler Handler[T]
}

func (r *typedReceiver[T]) CallHandler(b *eventlog.Batch) {
	p, h, _ := b.Next()
	r.handler.Handle(change[T](p, h))
}

// needs returns false for the objects of an event for which a [Funcs] has no function.
func (r *typedReceiver[T]) needs(h eventlog.Header) (old, now bool) {
	f, partial := r.handler.(Funcs[T])
	if partial && (h.Kind == eventlog.Added && f.Added == nil || h.Kind == eventlog.Updated && f.Updated == nil || h.Kind == eventlog.Deleted && f.Deleted == nil) {
		return false, false
	}
	return changeNeeds(h)
}

func (r *typedReceiver[T]) name() (name string) {
	switch h := r.handler.(type) {
	case HandlerFunc[T]:
		name = funcsName(h)
	case Funcs[T]:
		name = funcsName(h.Added, h.Updated, h.Deleted)
	}
	return cmp.Or(name, typeName(r.handler))
}

// callable reports whether a handler has a function to call.
func callable[T any](h Handler[T]) bool {
	switch h := h.(type) {
	case nil:
		return false
	case HandlerFunc[T]:
		return h != nil
	case Funcs[T]:
		return h.Added != nil || h.Updated != nil || h.Deleted != nil
	}
	return true
}

// change converts an event to a handler's change.
func change[T any](p *eventlog.Pair, h eventlog.Header) Change[T] {
	c := Change[T]{Kind: Kind(h.Kind), Initial: h.Is(eventlog.Initial), Lost: h.Is(eventlog.Lost)}
	if h.Kind != eventlog.Added {
		c.Old = typed[T](p.Old)
	}
	if h.Kind != eventlog.Deleted {
		c.New = typed[T](p.New)
	}
	return c
}

// changeNeeds reports which objects of an event are part of a change.
func changeNeeds(h eventlog.Header) (old, now bool) {
	return h.Kind != eventlog.Added, h.Kind != eventlog.Deleted
}

// typed returns an object as a T, or the zero value if there is none. The type was checked when the
// object was stored.
func typed[T any](obj any) T {
	t, _ := obj.(T)
	return t
}
