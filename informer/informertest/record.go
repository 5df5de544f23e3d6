package informertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Recorder writes the lists and watches of clients, for [Replay]: as JSON, one line for each
// request, answer and event, to be read and edited.
//
// The output holds complete objects, secrets too. It holds nothing about the client's identity.
type Recorder struct {
	began time.Time

	mu       sync.Mutex // guards the rest
	lines    *json.Encoder
	requests int
	err      error
}

// NewRecorder returns a recorder that writes to w. A file is best closed when the
// clients have ended.
func NewRecorder(w io.Writer) *Recorder {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return &Recorder{began: time.Now(), lines: lines}
}

// Wrap puts the recorder between a client and its transport, as an argument of rest.Config.Wrap.
// The server is asked for JSON, whatever the client prefers; client-go's clients read either.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return recording{r, next}
}

// Err returns the first error of writing. After an error nothing is written.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// begin numbers a request.
func (r *Recorder) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	return r.requests
}

func (r *Recorder) write(l tapeLine) {
	l.At = time.Since(r.began).Round(time.Millisecond).String()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.lines.Encode(l)
	}
}

// recording is a transport with a recorder.
type recording struct {
	*Recorder
	next http.RoundTripper
}

// RoundTrip sends a request on, and records lists and watches.
func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	t, ok := parseTarget(request.URL.Path)
	if !ok || t.name != "" || request.Method != http.MethodGet {
		return r.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Accept", inJSON(request.Header.Get("Accept")))
	n := r.begin()
	r.write(tapeLine{Request: n, URL: request.URL.RequestURI(), Accept: request.Header.Get("Accept")})
	response, err := r.next.RoundTrip(request)
	if err != nil {
		if request.Context().Err() == nil { // the client did not cancel the request
			r.write(tapeLine{Request: n, End: err.Error()})
		}
		return nil, err
	}
	r.write(tapeLine{Request: n, Code: response.StatusCode, Type: response.Header.Get("Content-Type"), Wait: response.Header.Get("Retry-After")})
	events := tapeOf(request.URL).watches && !errorCode(response.StatusCode)
	response.Body = &recordedBody{ReadCloser: response.Body, recorder: r.Recorder, request: n, events: events}
	return response, nil
}

// inJSON asks for JSON if a client asks for a binary form.
func inJSON(accept string) string {
	if accept == "" {
		return runtime.ContentTypeJSON
	}
	return strings.NewReplacer(runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, runtime.ContentTypeCBOR, runtime.ContentTypeJSON).Replace(accept)
}

// recordedBody records the answer as it is read: a line for each event, or one for the whole
// answer.
type recordedBody struct {
	io.ReadCloser
	recorder *Recorder
	request  int
	events   bool
	read     bytes.Buffer // and not written
	ended    bool
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	for b.events {
		line, _, complete := bytes.Cut(b.read.Bytes(), []byte("\n"))
		if !complete {
			break
		}
		b.write(tapeLine{Event: bytes.Clone(line)})
		b.read.Next(len(line) + 1)
	}
	if err != nil && !b.ended { // clients go on reading behind the end
		b.ended = true
		b.end(err)
	}
	return n, err
}

// end records how the answer ended.
func (b *recordedBody) end(err error) {
	switch {
	case !b.events && errors.Is(err, io.EOF):
		b.write(tapeLine{Body: b.body()})
	case errors.Is(err, io.EOF):
		b.write(tapeLine{End: endOfFile})
	default:
		b.write(tapeLine{End: err.Error()})
	}
}

// body returns the bytes read, as JSON. A server's plain text becomes a string.
func (b *recordedBody) body() json.RawMessage {
	if text := bytes.TrimSpace(b.read.Bytes()); json.Valid(text) {
		return text
	}
	text, err := json.Marshal(b.read.String())
	if err != nil {
		return nil // cannot happen: it is a string
	}
	return text
}

func (b *recordedBody) write(l tapeLine) {
	l.Request = b.request
	b.recorder.write(l)
}
