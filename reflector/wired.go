package reflector

import (
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// rawSource sends the requests of a [Source] whose answers the reflector can decode.
type rawSource struct {
	kind objectKind // of the source's objects
	// ask sends the request of a list or a watch.
	ask func(ctx context.Context, o metav1.ListOptions, list bool) (answer, error)
}

// answer is the body of an answer, or the result of client-go's client.
type answer struct {
	body  io.ReadCloser
	list  runtime.Object
	watch watch.Interface
}

// close releases an answer that is not needed.
func (a answer) close() {
	if a.body != nil {
		_ = a.body.Close() // it is not read to its end
	}
	if a.watch != nil {
		a.watch.Stop()
	}
}

// sharer is implemented by a [Sink] that decides which values its objects may share, such as an
// informer's: its transform may write into them.
type sharer interface {
	// DecodesHere is called once, by a reflector that decodes the objects itself. It returns the
	// table of shared values, nil for none, and whether decoding shares more than strings.
	DecodesHere() (t *share.Table, values bool)
}

// readHere prepares the decoding of a source's answers, if its objects are of the requested type.
func (l *loop) readHere(raw rawSource) {
	if raw.ask == nil || raw.kind.object != l.o.Type {
		return
	}
	l.raw = raw
	s := sharing{}
	if sink, ok := l.sink.(sharer); ok {
		s.table, s.values = sink.DecodesHere()
	} else if !l.o.Unshared {
		s.table, s.values = share.New(l.o.ShareBytes), true
	}
	drop, _ := fields.Parse(l.o.Drop...) // it was validated
	l.kind = newKindDecoder(raw.kind, s, drop)
	l.kind.times = l.o.DecodeTimes
	if sink, ok := l.sink.(ownwrites.Sink); ok {
		l.reader = &reader{sink: sink, kind: newKindDecoder(raw.kind, s, drop), deltas: l.deltaMaker}
	}
}

// asking returns the function that sends the request of a list or watch.
func (l *loop) asking(o metav1.ListOptions, list bool) func(context.Context) (answer, error) {
	ask := func(ctx context.Context) (answer, error) { return askClient(ctx, l.source, o, list) }
	if raw := l.raw; raw.ask != nil {
		ask = func(ctx context.Context) (answer, error) { return raw.ask(ctx, o, list) }
	}
	return func(ctx context.Context) (answer, error) {
		d := &delay{wanted: wanted{list: list, options: o}, reader: l.reader}
		a, err := ask(context.WithValue(ctx, delayKey{}, d))
		return a, d.wrap(err)
	}
}

// receiving returns the function that starts reading the events of an answer. In the initial state
// of a stream, objects that the sink already holds are not decoded.
func (l *loop) receiving(initial bool) func(context.Context, io.ReadCloser) *reception {
	known := l.knowing()
	if !initial {
		known = nil
	}
	return func(ctx context.Context, body io.ReadCloser) *reception {
		r := &reception{ctx: ctx, body: body, kind: l.kind, known: known, strict: l.o.FailOnUndecodable, initial: initial}
		return startReception(r, false)
	}
}

// knowing returns the sink's Recall, or nil if the sink has none, or if equal versions do not mean
// equal objects.
func (l *loop) knowing() func(id) (any, bool) {
	sink, ok := l.sink.(Recaller)
	if !ok || l.machine.version == "" || l.machine.history.state == rolledBack {
		return nil
	}
	return func(o id) (any, bool) { return sink.Recall(o.key, o.uid, o.version) }
}
