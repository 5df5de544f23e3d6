package informer

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// receiver is what a registration delivers to: a face's view of a handler.
type receiver[T any] interface {
	// receive hands one event to the handler. The key is that of the object if
	// the event is a lost delete, and may be nil otherwise: few events need it.
	receive(p *pair[T], h header, key *indexer.Key)
	// splits says whether the handler is told a delete and an add where an
	// object was replaced by another one under its name.
	splits() bool
	// name is the handler's type.
	name() string
}

// native delivers to a [Handler]. A delete of something unknown is not
// mentioned; that of something recreated comes in two, from the registration.
type native[T any] struct{ handler Handler[T] }

func (n *native[T]) receive(p *pair[T], h header, _ *indexer.Key) {
	if !h.is(flagUnknown) {
		n.handler.Handle(p.change(h))
	}
}

func (*native[T]) splits() bool   { return true }
func (n *native[T]) name() string { return fmt.Sprintf("%T", n.handler) }

// nativeFuncs delivers to a [Funcs], without a [Change] in between.
type nativeFuncs[T any] struct{ Funcs[T] }

func (n *nativeFuncs[T]) receive(p *pair[T], h header, _ *indexer.Key) {
	switch {
	case h.kind == Updated && n.Updated != nil:
		n.Updated(p.old, p.new)
	case h.kind == Added && n.Added != nil:
		n.Added(p.new)
	case h.kind == Deleted && n.Deleted != nil && !h.is(flagUnknown):
		n.Deleted(p.old)
	}
}

func (*nativeFuncs[T]) splits() bool   { return true }
func (n *nativeFuncs[T]) name() string { return fmt.Sprintf("%T", n.Funcs) }

// nativeReceiver returns the receiver of a handler.
func nativeReceiver[T any](h Handler[T]) receiver[T] {
	if funcs, ok := h.(Funcs[T]); ok {
		return &nativeFuncs[T]{funcs}
	}
	return &native[T]{h}
}
