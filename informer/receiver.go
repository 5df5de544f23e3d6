package informer

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// receiver is what a registration delivers to: a handler, of [Handler] or of
// client-go's kind.
type receiver interface {
	// receive hands one event to the handler. The key is that of the object if
	// the event is a lost delete, and may be nil otherwise: few events need it.
	receive(p *pair, h header, key *indexer.Key)
	// splits says whether the handler is told a delete and an add where an
	// object was replaced by another one under its name.
	splits() bool
	// name is the handler's type.
	name() string
}

// typedReceiver delivers to a [Handler]. A delete of something unknown is not
// mentioned; that of something recreated comes in two, from the registration.
type typedReceiver[T any] struct{ handler Handler[T] }

func (r *typedReceiver[T]) receive(p *pair, h header, _ *indexer.Key) {
	if !h.is(flagUnknown) {
		r.handler.Handle(change[T](p, h))
	}
}

func (*typedReceiver[T]) splits() bool   { return true }
func (r *typedReceiver[T]) name() string { return fmt.Sprintf("%T", r.handler) }

// funcsReceiver delivers to a [Funcs], without a [Change] in between.
type funcsReceiver[T any] struct{ Funcs[T] }

func (r *funcsReceiver[T]) receive(p *pair, h header, _ *indexer.Key) {
	switch {
	case h.kind == Updated && r.Updated != nil:
		r.Updated(typed[T](p.old), typed[T](p.new))
	case h.kind == Added && r.Added != nil:
		r.Added(typed[T](p.new))
	case h.kind == Deleted && r.Deleted != nil && !h.is(flagUnknown):
		r.Deleted(typed[T](p.old))
	}
}

func (*funcsReceiver[T]) splits() bool   { return true }
func (r *funcsReceiver[T]) name() string { return fmt.Sprintf("%T", r.Funcs) }

// receiverOf returns the receiver of a handler.
func receiverOf[T any](h Handler[T]) receiver {
	if funcs, ok := h.(Funcs[T]); ok {
		return &funcsReceiver[T]{funcs}
	}
	return &typedReceiver[T]{h}
}

// change is an event as a handler is told it.
func change[T any](p *pair, h header) Change[T] {
	c := Change[T]{Kind: h.kind, Old: typed[T](p.old), Initial: h.is(flagInitial), Lost: h.is(flagLost)}
	if h.kind != Deleted {
		c.New = typed[T](p.new)
	}
	return c
}

// typed returns an object as a T, the zero value where there is none: what an
// informer of Ts stores is checked before.
func typed[T any](obj any) T {
	t, _ := obj.(T)
	return t
}
