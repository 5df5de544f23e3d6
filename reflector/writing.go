package reflector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

const (
	// longestHold is how long a write may take longer because informers read its object. Each of
	// its waits may last for the grace, too.
	longestHold = time.Second - 3*wire.Grace
	// mostBody bounds the size of the bodies that are read.
	mostBody = 16 << 20
)

// writing is one write of the program on its way to the server and back.
type writing struct {
	ownwrites.Write
	own     *OwnWrites
	readers []*reader
	before  []ownwrites.Before // of the readers, when the request began
	history uint64             // of own.made, when the request began
	left    time.Duration      // how long the caller may still be held
}

// send sends the request of a write, and shows its result to the readers of its resource.
func (o *OwnWrites) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	t, ok := ownwrites.ParseTarget(r.URL.Path)
	if !ok {
		return next.RoundTrip(r)
	}
	readers := o.readersOf(t, r)
	if len(readers) == 0 {
		return next.RoundTrip(r)
	}
	w := &writing{own: o, readers: readers, history: o.made.History(), left: longestHold}
	if !w.begin(t, r) {
		return next.RoundTrip(r)
	}
	answer, err := next.RoundTrip(r)
	if err == nil && answer != nil { // a broken transport returns neither
		w.answered(r.Context(), answer)
	} else {
		w.failed(r.Context(), err)
	}
	return answer, err
}

// begin reads the request, and asks the readers what they know. It returns false if nothing is to be
// learned from the answer.
func (w *writing) begin(t ownwrites.Target, r *http.Request) (ok bool) {
	body := ownwrites.Body{Whole: true}
	if r.Body != nil && r.Body != http.NoBody {
		body, _ = hold(r.Context(), &w.left, func(context.Context) ownwrites.Body { return bodyOf(r) }) // else it is not whole
	}
	if w.Write, ok = ownwrites.ReadWrite(r.Method, t, r.URL.Query(), body); !ok {
		return false
	}
	var err error
	w.before, err = hold(r.Context(), &w.left, func(context.Context) (all []ownwrites.Before) {
		for _, reader := range w.readers {
			all = append(all, reader.sink.Begins(w.Key()))
		}
		return all
	})
	if err != nil {
		w.before = make([]ownwrites.Before, len(w.readers))
	}
	return true
}

// failed tells the readers of an error, unless a transport says that nothing was sent.
func (w *writing) failed(ctx context.Context, err error) {
	_, _ = hold(ctx, &w.left, func(ctx context.Context) struct{} { // the error counts
		var refused interface{ NotSent() bool }
		if !errors.As(err, &refused) || !refused.NotSent() {
			w.tell(ctx, w.Unanswered())
		}
		return struct{}{}
	})
}

// answered tells the readers what an answer says. That comes after what Made needs: a handler may ask as soon as a
// store shows the object.
func (w *writing) answered(ctx context.Context, answer *http.Response) {
	code, body := answer.StatusCode, ownwrites.Body{Type: answer.Header.Get("Content-Type"), Encoding: answer.Header.Get("Content-Encoding")}
	if w.Answers(code) && body.Encoding == "" && answer.ContentLength <= mostBody && answer.Body != nil {
		body.Data, body.Whole = readAnswer(answer)
	}
	_, _ = hold(ctx, &w.left, func(ctx context.Context) struct{} { // the answer counts
		result, ok := w.Result(code, body)
		if result.Proven {
			writer, _ := ctx.Value(writerKey{}).(string)
			w.own.made.Add(w.history, writer, result.UID, w.Condition, result.Version)
		}
		if ok {
			w.tell(ctx, result)
		}
		return struct{}{}
	})
}

// tell passes a result on: first to the readers that read the object, since it may have come from the
// others of the same informer.
func (w *writing) tell(ctx context.Context, result ownwrites.Result) {
	for _, inside := range []bool{true, false} {
		for i, r := range w.readers {
			if scope := r.scope(w.Write, result); r.covers(w.Write) && (scope == ownwrites.Inside) == inside {
				r.tell(ctx, w.Write, result, ownwrites.Answer{Scope: scope, Before: w.before[i]})
			}
		}
	}
}

// hold runs f on a goroutine of its own, and waits for it until ctx ends, or for the time that is left.
// The context of f ends half of the grace later: a sink has counted what it does not show before the caller
// goes on. A panic of f, and the end of its goroutine, are errors.
func hold[R any](ctx context.Context, left *time.Duration, f func(context.Context) R) (R, error) {
	defer func(since time.Time) { *left -= time.Since(since) }(time.Now())
	working, done := context.WithCancel(context.WithoutCancel(ctx))
	waiting, stop := context.WithTimeout(ctx, *left)
	defer stop()
	defer context.AfterFunc(waiting, func() { time.AfterFunc(wire.Grace/2, done) })()
	return wire.Call(waiting, func() (R, error) {
		defer done()
		return f(working), nil
	}, func(R) {})
}

// bodyOf reads a copy of a request's body. It is not whole if there is no way to copy it.
func bodyOf(r *http.Request) ownwrites.Body {
	b := ownwrites.Body{Type: r.Header.Get("Content-Type"), Encoding: r.Header.Get("Content-Encoding")}
	if r.GetBody == nil || r.ContentLength > mostBody {
		return b
	}
	body, err := r.GetBody()
	if err != nil {
		return b
	}
	defer func() { _ = body.Close() }() // it is a copy
	b.Data, err = io.ReadAll(io.LimitReader(body, mostBody+1))
	b.Whole = err == nil && len(b.Data) <= mostBody
	return b
}

// readAnswer reads an answer's body, and puts another one with the same bytes and the same error in its place. The
// body is not whole if it has broken off, or is too large.
func readAnswer(answer *http.Response) (data []byte, whole bool) {
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostBody+1))
	rest := io.Reader(answer.Body)
	if err != nil {
		rest = brokenOff{err}
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), rest), answer.Body}
	return data, err == nil && len(data) <= mostBody
}

// brokenOff is the end of a body that has broken off.
type brokenOff struct{ err error }

func (b brokenOff) Read([]byte) (int, error) { return 0, b.err }
