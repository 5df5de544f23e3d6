package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// decodingReceiver delivers the events of a store that holds its objects encoded. The log
// and what waits for a handler hold them so too: they are decoded when the handler is
// called, each of those that it is told.
type decodingReceiver struct {
	receiver
	decode indexer.Decoder
}

// receiving returns what delivers the events of this informer to a receiver of objects.
func (c *core) receiving(to receiver) receiver {
	if decode := c.writer.Decoder(); decode != nil {
		return &decodingReceiver{to, decode}
	}
	return to
}

func (r *decodingReceiver) receive(b *eventlog.Batch) {
	b.Prepare(r.atOnce(), r.objects)
	r.receiver.receive(b)
}

// objects decodes what the handler is told of an event. In a resync old and new are one.
func (r *decodingReceiver) objects(p *eventlog.Pair, h eventlog.Header) {
	old, now := r.needs(h)
	if old && now && sameValue(p.Old, p.New) {
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
