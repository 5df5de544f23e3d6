package reflector

import (
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// sharer is implemented by a [Sink] that decides which values its objects may share, such as an
// informer's: its transform may write into them.
type sharer interface {
	// DecodesHere is called once, by a reflector that decodes the objects itself. It returns the
	// table of shared values, nil for none, and whether decoding shares more than strings.
	DecodesHere() (t *share.Table, values bool)
}

// readHere prepares the decoding of a sender's answers, if the objects are of the requested type.
func (l *loop) readHere(send *Sender) {
	if send == nil || send.objects.Type != l.o.Type {
		return
	}
	l.ask = send.ask
	s := wire.Sharing{}
	if sink, ok := l.sink.(sharer); ok {
		s.Table, s.Values = sink.DecodesHere()
	} else if !l.o.Unshared {
		s.Table, s.Values = share.New(0), true
	}
	drop, _ := fields.Parse(l.o.Drop...) // it was validated
	if sink, ok := l.sink.(wire.Packer); ok {
		l.taker = sink.Packs(send.objects, wire.NewPackedDecoder(send.objects, drop))
	}
	l.kind = wire.NewDecoder(send.objects, s, drop)
	if l.o.DecodeTimes != nil {
		l.kind.Times = &l.o.DecodeTimes.times
	}
	if sink, ok := l.sink.(ownwrites.Sink); ok {
		l.reader = &reader{sink: sink, kind: wire.NewDecoder(send.objects, s, drop), deltas: l.deltaMaker, taker: l.taker, share: l.o.Share}
	}
}

// asking returns the function that sends the request of a list or watch, with the source's tweak.
func (l *loop) asking(o metav1.ListOptions, list bool) func(context.Context) (wire.Answer, error) {
	return func(ctx context.Context) (wire.Answer, error) {
		if l.source.Tweak != nil {
			l.source.Tweak(&o)
		}
		var sender wire.Reader
		if l.reader != nil {
			sender = l.reader
		}
		ctx, mark := wire.WithMark(ctx, list, o, sender)
		a, err := l.ask(ctx, o, list)
		return a, mark.Wrap(err)
	}
}

// receiving returns the function that starts reading the events of an answer. In the initial state
// of a stream, objects that the sink already holds are not decoded.
func (l *loop) receiving(o metav1.ListOptions) func(context.Context, io.ReadCloser) *wire.Reception {
	initial, known := o.SendInitialEvents != nil, l.knowing()
	if !initial {
		known = nil
	}
	return func(ctx context.Context, body io.ReadCloser) *wire.Reception {
		return wire.Receive(&wire.Reception{
			Ctx: ctx, Body: body, Decoder: l.kind, Known: known, Strict: l.o.FailOnUndecodable, Taker: l.taker, Share: l.o.Share.ofItems(),
			Initial: initial, Unordered: o.ResourceVersion == "" || o.ResourceVersion == "0",
		}, false)
	}
}
