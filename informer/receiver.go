package informer

import (
	"cmp"
	"context"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

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

func (*typedReceiver[T]) Needs(h eventlog.Header) (old, now bool) { return changeNeeds(h) }

func (r *typedReceiver[T]) Name() string {
	if f, ok := r.handler.(HandlerFunc[T]); ok && f != nil {
		return funcsName(f)
	}
	return typeName(r.handler)
}

// funcsReceiver delivers to a [Funcs], without a [Change] in between.
type funcsReceiver[T any] struct {
	oneByOne
	Funcs[T]
}

func (r *funcsReceiver[T]) CallHandler(b *eventlog.Batch) {
	p, h, _ := b.Next()
	switch {
	case h.Kind == eventlog.Updated && r.Updated != nil:
		r.Updated(typed[T](p.Old), typed[T](p.New))
	case h.Kind == eventlog.Added && r.Added != nil:
		r.Added(typed[T](p.New))
	case h.Kind == eventlog.Deleted && r.Deleted != nil:
		r.Deleted(typed[T](p.Final()))
	}
}

func (r *funcsReceiver[T]) Needs(h eventlog.Header) (old, now bool) {
	if called := h.Kind == eventlog.Added && r.Added != nil || h.Kind == eventlog.Updated && r.Updated != nil ||
		h.Kind == eventlog.Deleted && r.Deleted != nil; !called {
		return false, false
	}
	return changeNeeds(h)
}

func (r *funcsReceiver[T]) Name() string {
	return cmp.Or(funcsName(r.Added, r.Updated, r.Deleted), typeName(r.Funcs))
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

// receiverOf returns the receiver of a handler.
func receiverOf[T any](h Handler[T]) engine.Receiver {
	if funcs, ok := h.(Funcs[T]); ok {
		return &funcsReceiver[T]{Funcs: funcs}
	}
	return &typedReceiver[T]{handler: h}
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

// typed returns an object as a T, or the zero value for nil. The type was checked before the object was
// stored.
func typed[T any](obj any) T {
	t, _ := obj.(T)
	return t
}
