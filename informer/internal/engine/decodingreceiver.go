package engine

import (
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// decodingReceiver delivers the events of a packed store. The log and the backlogs also hold packed objects.
// Just before a call, the receiver decodes the objects that the handler needs.
type decodingReceiver struct {
	Receiver
	decode func(stored any) any
}

// withDecoding wraps a receiver in a decodingReceiver if the store is packed.
func (c *Core) withDecoding(to Receiver) Receiver {
	if c.packing != nil {
		return &decodingReceiver{to, c.packing.forHandler}
	}
	return to
}

func (r *decodingReceiver) CallHandler(b *eventlog.Batch) {
	if b.Prepare(r.AtOnce(), r.objects); b.Left() > 0 {
		r.Receiver.CallHandler(b)
	}
}

// objects decodes the objects of an event that the handler needs. In a resync, old and new are the same
// object. They are also the same in an update whose old object cannot be decoded. objects returns false if
// another object cannot be decoded.
func (r *decodingReceiver) objects(p *eventlog.Pair, h eventlog.Header) (decoded bool) {
	old, now := r.Needs(h)
	stored := p.New
	if now {
		p.New = r.decode(stored)
	}
	switch {
	case !old:
	case !now:
		p.Old = r.decode(p.Old)
	case object.Same(p.Old, stored):
		p.Old = p.New
	default:
		if p.Old = r.decode(p.Old); p.Old == nil {
			p.Old = p.New
		}
	}
	return (!old || p.Old != nil) && (!now || p.New != nil)
}
