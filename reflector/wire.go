package reflector

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Wire wraps the transport of client-go's dynamic and metadata clients, so that a reflector decodes
// their lists and watches itself:
//
//	config.Wrap(reflector.Wire)
//	client, err := dynamic.NewForConfig(config)
//
// The reflector then decodes objects one by one as they arrive, stores equal values once
// ([Decoding]), and skips objects that the sink already holds. Wire takes over only requests of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]; the factories use the first two. All
// other requests pass through unchanged.
//
// For other sources, such as a cache.ListWatch, Wire leaves objects that the sink already holds out
// of a protobuf stream. It does not take the answer over, since the client may use it in other ways.
// The source must pass its context on to the client for this.
//
// If a busy server sends Retry-After, the reflector obeys and reports it, instead of the client.
//
// Clients of the built-in kinds need no transport, see [FromGenerated].
func Wire(next http.RoundTripper) http.RoundTripper { return wire{next} }

type wire struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = wire{}

// WrappedRoundTripper returns the inner transport.
func (w wire) WrappedRoundTripper() http.RoundTripper { return w.next }

// RoundTrip sends the request. It gives the answer's body to the reflector in the request's context,
// if there is one.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return answer, err
	}
	t, marked := r.Context().Value(takeoverKey{}).(*takeover)
	if d, ok := r.Context().Value(delayKey{}).(*delay); ok && (isStream(r) || marked && t.fits(r)) {
		d.takes(answer)
	}
	if marked && readable(answer) && t.claims(r) {
		answer.Header = answer.Header.Clone()
		answer.Header.Set("Content-Type", runtime.ContentTypeJSON)
		answer.Body, answer.ContentLength = t.takes(answer.Body), -1
	}
	if known, ok := r.Context().Value(omitterKey{}).(omitter); ok && streamsProtobuf(answer) {
		answer.Body, answer.ContentLength = newFrames(answer.Body, known), -1
	}
	return answer, nil
}

// readable reports whether the reflector can decode the format of an answer.
func readable(answer *http.Response) bool {
	kind, _ := mediaType(answer)
	return kind == runtime.ContentTypeJSON || kind == runtime.ContentTypeProtobuf
}

func streamsProtobuf(answer *http.Response) bool {
	kind, params := mediaType(answer)
	return kind == runtime.ContentTypeProtobuf && params["stream"] == "watch"
}

// mediaType returns the media type of an answer, or "" if the request failed, or if the answer has
// another encoding on top.
func mediaType(answer *http.Response) (kind string, params map[string]string) {
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != "" {
		return "", nil
	}
	kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return "", nil
	}
	return kind, params
}

// isStream reports whether a request is for a stream of the initial state.
func isStream(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Get("sendInitialEvents") == "true"
}

// delayKey is the key of a *delay in a request's context.
type delayKey struct{}

// delay is the Retry-After of an answer. The client would wait for it silently, and the reflector
// would mistake that for a silent server.
type delay struct{ seconds atomic.Int64 }

// takes removes the delay from an answer, so that the client returns the error.
func (d *delay) takes(answer *http.Response) {
	if answer.StatusCode != http.StatusTooManyRequests {
		return
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		d.seconds.Store(int64(seconds))
		answer.Header = answer.Header.Clone()
		answer.Header.Del("Retry-After")
	}
}

// wrap adds the delay to the client's error.
func (d *delay) wrap(err error) error {
	if seconds := d.seconds.Load(); err != nil && seconds > 0 {
		return &delayedError{err, time.Duration(seconds) * time.Second}
	}
	return err
}

// takeoverKey is the key of a *takeover in a request's context.
type takeoverKey struct{}

// takeover marks one request whose answer the reflector decodes.
type takeover struct {
	list    bool
	path    string // the end of the request's path
	claimed atomic.Bool
	body    chan *takenBody
}

// claims reports whether a request is the marked one. A mark is used once.
func (t *takeover) claims(r *http.Request) bool {
	return t.fits(r) && t.claimed.CompareAndSwap(false, true)
}

// fits reports whether a request is the marked one or a repetition of it.
func (t *takeover) fits(r *http.Request) bool {
	watches := r.URL.Query().Get("watch")
	return r.Method == http.MethodGet && (watches == "" || watches == "false") == t.list && strings.HasSuffix(r.URL.Path, t.path)
}

// takes keeps a body for the reflector, and returns another body for the client.
func (t *takeover) takes(body io.ReadCloser) io.ReadCloser {
	taken := &takenBody{ReadCloser: body, released: make(chan struct{})}
	t.body <- taken // has room for the one body
	in := &standIn{taken: taken}
	if t.list {
		in.text.Reset(emptyList)
	}
	return in
}

// takenBody is a body read by the reflector. Closing it lets the client continue.
type takenBody struct {
	io.ReadCloser
	once     sync.Once
	released chan struct{}
	onClose  func()
}

func (b *takenBody) Close() error {
	b.once.Do(func() { close(b.released) })
	err := b.ReadCloser.Close()
	if b.onClose != nil {
		b.onClose()
	}
	return err
}

// emptyList is the client's answer to a list.
const emptyList = `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{},"items":[]}`

// standIn is the body that the client gets instead: a list without items, or a watch without events.
// It yields nothing until the reflector has closed the real body, so that the client's request lasts
// as long as the reading.
type standIn struct {
	taken *takenBody
	text  strings.Reader
}

func (s *standIn) Read(p []byte) (int, error) {
	<-s.taken.released
	return s.text.Read(p)
}

// Close is called by the client when it is done, or when its request has ended.
func (s *standIn) Close() error {
	s.taken.once.Do(func() { close(s.taken.released) })
	return s.taken.ReadCloser.Close()
}
