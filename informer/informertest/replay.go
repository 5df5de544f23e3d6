package informertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Recording plays back the output of a [Recorder]. The first list of a collection gets the first
// recorded answer to a list, and so on. Watches, watches with an initial state, and each selector
// are counted separately. The other parameters of a request are not compared.
//
// No time passes: each event is ready when the client has read the previous one. A recording needs
// neither sockets nor goroutines, and works inside a testing/synctest bubble. A request that got no
// answer is left out. After its end, requests and watches wait until their client gives up.
type Recording struct {
	done chan struct{}

	mu    sync.Mutex // guards the rest
	tapes map[tape][]*recorded
	// left counts the answers not yet read to the end.
	left int
}

// recorded is one request and its answer.
type recorded struct {
	url    string
	answer tapeLine
	pieces [][]byte
	end    string
}

// unanswered reports whether the request got neither an answer nor an error: its client gave up, or
// the recording stopped first.
func (e *recorded) unanswered() bool { return e.answer.Code == 0 && e.end == "" }

// Replay reads a recording. Any other text is an error.
func Replay(from io.Reader) (*Recording, error) {
	r := &Recording{done: make(chan struct{}), tapes: map[tape][]*recorded{}}
	byNumber := map[int]*recorded{}
	lines := json.NewDecoder(from)
	for n := 1; ; n++ {
		var l tapeLine
		err := lines.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.add(byNumber, l)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", errRecording, n, err)
		}
	}
	for t, requests := range r.tapes {
		r.tapes[t] = slices.DeleteFunc(requests, (*recorded).unanswered)
		r.left += len(r.tapes[t])
	}
	if r.left == 0 {
		close(r.done)
	}
	return r, nil
}

// add reads one line.
func (r *Recording) add(byNumber map[int]*recorded, l tapeLine) error {
	e := byNumber[l.Request]
	switch {
	case e == nil && l.URL == "":
		return fmt.Errorf("request %d has no url", l.Request)
	case e == nil:
		u, err := url.ParseRequestURI(l.URL)
		if err != nil {
			return err
		}
		e = &recorded{url: l.URL}
		byNumber[l.Request] = e
		t := tapeOf(u)
		r.tapes[t] = append(r.tapes[t], e)
	case l.Code != 0:
		e.answer = l
	case l.Body != nil:
		e.pieces, e.end = append(e.pieces, plain(l.Body)), endOfFile
	case l.Event != nil:
		e.pieces = append(e.pieces, append(l.Event, '\n'))
	case l.End != "":
		e.end = l.End
	}
	return nil
}

// plain returns a body as the server sent it: a text was recorded as a string.
func plain(body json.RawMessage) []byte {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return []byte(text)
	}
	return body
}

// Done returns a channel that is closed once clients have got the whole recording, and have read it
// or closed it.
func (r *Recording) Done() <-chan struct{} { return r.done }

// ClientConfig returns the configuration of clients of the recording. reflector.From makes an
// informer's source of it.
func (r *Recording) ClientConfig() *rest.Config {
	return &rest.Config{
		Host:          "http://recording",
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
		QPS:           -1,
		Transport:     r,
	}
}

// RoundTrip answers a request, as a client's transport.
func (r *Recording) RoundTrip(request *http.Request) (*http.Response, error) {
	t := tapeOf(request.URL)
	if request.Method != http.MethodGet {
		return refuse(request, errMethod())
	}
	e, known := r.next(t)
	switch {
	case e == nil && known: // the recording is over
		<-request.Context().Done()
		return nil, context.Cause(request.Context())
	case e == nil && t.streams: // by which clients know a server that does not stream
		return refuse(request, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", nil))
	case e == nil:
		return refuse(request, errNotServed())
	case e.answer.Code == 0:
		r.finished()
		return nil, fmt.Errorf("%w: %s", errRecorded, e.end)
	}
	header := http.Header{"Content-Type": {e.answer.Type}}
	if e.answer.Wait != "" {
		header.Set("Retry-After", e.answer.Wait)
	}
	body := &replayedBody{recording: r, recorded: e, ctx: request.Context(), closed: make(chan struct{})}
	body.close = sync.OnceFunc(func() { close(body.closed) })
	body.finish = sync.OnceFunc(r.finished)
	return respond(request, e.answer.Code, header, body), nil
}

// next takes the next answer of a tape, nil if there is none left. known reports whether the tape
// exists.
func (r *Recording) next(t tape) (e *recorded, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tape, known := r.tapes[t]
	if len(tape) == 0 {
		return nil, known
	}
	r.tapes[t] = tape[1:]
	return tape[0], true
}

// finished counts an answer that was read to the end or closed.
func (r *Recording) finished() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left--
	if r.left == 0 {
		close(r.done)
	}
}

func respond(request *http.Request, code int, header http.Header, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Request: request,
	}
}

// refuse answers with a status.
func refuse(request *http.Request, status *apierrors.StatusError) (*http.Response, error) {
	text, err := plainJSON.encode(plainJSON.shape(&status.ErrStatus, statusGVK))
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {runtime.ContentTypeJSON}}
	return respond(request, int(status.ErrStatus.Code), header, io.NopCloser(bytes.NewReader(text))), nil
}

// replayedBody yields the pieces of an answer, each when the previous one has been read. It has one
// reader.
type replayedBody struct {
	recording *Recording
	recorded  *recorded
	ctx       context.Context
	closed    chan struct{}
	close     func()
	finish    func() // counts the answer as read to the end or closed

	piece []byte // the unread rest of the present piece
	n     int    // how many have begun
}

func (b *replayedBody) Read(p []byte) (int, error) {
	for len(b.piece) == 0 {
		if b.n == len(b.recorded.pieces) {
			return 0, b.over()
		}
		b.piece = b.recorded.pieces[b.n]
		b.n++
	}
	n := copy(p, b.piece)
	b.piece = b.piece[n:]
	return n, nil
}

// over returns the error after the last piece.
func (b *replayedBody) over() error {
	b.finish()
	switch end := b.recorded.end; {
	case end == endOfFile:
		return io.EOF
	case end != "":
		return fmt.Errorf("%w: %s", errRecorded, strings.TrimSpace(end))
	}
	select {
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	case <-b.closed:
		return io.ErrClosedPipe
	}
}

// Close ends a waiting read.
func (b *replayedBody) Close() error {
	b.finish()
	b.close()
	return nil
}
