package reflector

import (
	"context"
	"io"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// wired is a [Source] whose answers the reflector can decode. A wrapping source has a method
// Unwrap, see [Tweak].
type wired interface {
	Source
	// objectKind describes the source's objects.
	objectKind() objectKind
	// ask sends the request of a list or a watch.
	ask(ctx context.Context, o metav1.ListOptions, list bool) (answer, error)
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

// wiredOf returns the source whose answers can be decoded here: source, or a source it wraps. It
// returns nil if there is none, or if its objects are of another type.
func wiredOf(source Source, object reflect.Type) wired {
	switch s := source.(type) {
	case wired:
		if s.objectKind().object == object {
			return s
		}
	case tweaked:
		if inner := wiredOf(s.source, object); inner != nil {
			return tweakedWire{inner, s.tweak}
		}
	case wrapper:
		return wiredOf(s.Unwrap(), object)
	}
	return nil
}

// tweakedWire is a wired source with options changed by tweak.
type tweakedWire struct {
	wired
	tweak func(*metav1.ListOptions)
}

func (t tweakedWire) ask(ctx context.Context, o metav1.ListOptions, list bool) (answer, error) {
	t.tweak(&o)
	return t.wired.ask(ctx, o, list)
}

// sharer is implemented by a [Sink] that decides which values its objects may share, such as an
// informer's: its transform may write into them.
type sharer interface {
	// DecodesHere is called once, by a reflector that decodes the objects itself. It returns the
	// table of shared values, nil for none, and whether decoding shares more than strings.
	DecodesHere() (t *share.Table, values bool)
}

// readHere prepares the decoding of a source's answers.
func (l *loop) readHere(w wired) {
	if l.wired = w; w == nil {
		return
	}
	s := sharing{}
	if sink, ok := l.sink.(sharer); ok {
		goexit.Apart(func() { s.table, s.values = sink.DecodesHere() })
	} else if !l.o.Unshared {
		s.table, s.values = share.New(l.o.ShareBytes), true
	}
	drop, _ := fields.Parse(l.o.Drop...) // it was validated
	l.kind = newKindDecoder(w.objectKind(), s, drop)
	l.kind.times = l.o.DecodeTimes
}
