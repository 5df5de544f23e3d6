package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// decodingReceiver delivers the events of a store with encoded objects. The log and the backlogs
// hold encoded objects, too. The receiver decodes the objects that the handler needs, just before
// the call.
type decodingReceiver struct {
	receiver
	decode indexer.Decoder
}

// withDecoding wraps a receiver in a decodingReceiver, if the store encodes its objects.
func (c *core) withDecoding(to receiver) receiver {
	if decode := c.writer.Decoder(); decode != nil {
		return &decodingReceiver{to, decode}
	}
	return to
}

func (r *decodingReceiver) CallHandler(b *eventlog.Batch) {
	b.Prepare(r.AtOnce(), r.objects)
	r.receiver.CallHandler(b)
}

// objects decodes the objects of an event that the handler needs. In a resync old and new are one
// object.
func (r *decodingReceiver) objects(p *eventlog.Pair, h eventlog.Header) {
	old, now := r.needs(h)
	if old && now && object.Same(p.Old, p.New) {
		p.New = r.decode(p.New)
		p.Old = p.New
		return
	}
	if old {
		p.Old = r.decode(p.Old)
	}
	if now {
		p.New = r.decode(p.New)
	}
}
