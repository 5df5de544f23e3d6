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

// Wire wraps the transport of client-go's dynamic and metadata clients, so that
// a reflector reads the bytes of their lists and watches itself:
//
//	config.Wrap(reflector.Wire)
//	client, err := dynamic.NewForConfig(config)
//
// Objects are then decoded one by one as they arrive, equal values are stored
// once ([Decoding]), and what the sink holds already is not decoded at
// all. It takes over the answers to requests of [FromDynamic], [FromMetadata] and
// [FromControllerRuntime] alone; the factories use the first two. All other requests of the client pass through
// untouched.
//
// Of any other source, such as a cache.ListWatch, it leaves out of a stream in
// protobuf the objects that the sink holds already: a client that has read such
// an answer may do with it what it likes, so it is not taken over. The source has to
// pass its context on to the client for that.
//
// A server that is too busy, and says for how long (Retry-After), is obeyed by the
// reflector, which tells of it, instead of by the client.
//
// Clients of the built-in kinds need no transport, see [FromGenerated].
func Wire(next http.RoundTripper) http.RoundTripper { return wire{next} }

// SkipUnchanged is [Wire].
//
// Deprecated: use Wire.
func SkipUnchanged(next http.RoundTripper) http.RoundTripper { return Wire(next) }

type wire struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = wire{}

// WrappedRoundTripper returns the transport that does the work.
func (w wire) WrappedRoundTripper() http.RoundTripper { return w.next }

// RoundTrip does the request, and gives the body of the answer to the reflector
// that has put itself into the request's context.
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

// readable tells whether an answer is in a format that can be read here.
func readable(answer *http.Response) bool {
	kind, _ := mediaType(answer)
	return kind == runtime.ContentTypeJSON || kind == runtime.ContentTypeProtobuf
}

func streamsProtobuf(answer *http.Response) bool {
	kind, params := mediaType(answer)
	return kind == runtime.ContentTypeProtobuf && params["stream"] == "watch"
}

// mediaType returns the media type of what a server answers a request with; ""
// where it refuses the request, or has encoded the answer in a further way.
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

// isStream tells whether a request asks for a stream of the initial state.
func isStream(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Get("sendInitialEvents") == "true"
}

// delayKey is the key of a *delay in a request's context.
type delayKey struct{}

// delay is how long the server of a request wants to be left alone. The client would
// obey that by itself, in silence, and the reflector take it for the server's.
type delay struct{ seconds atomic.Int64 }

// takes takes the delay out of an answer, so that the client returns the error.
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

// wrap adds the delay to the error that the client has made of the answer.
func (d *delay) wrap(err error) error {
	if seconds := d.seconds.Load(); err != nil && seconds > 0 {
		return &delayedError{err, time.Duration(seconds) * time.Second}
	}
	return err
}

// takeoverKey is the key of a *takeover in a request's context.
type takeoverKey struct{}

// takeover is a request of a reflector whose answer is to be read here, once.
type takeover struct {
	list    bool
	path    string // what the path of the request ends in
	claimed atomic.Bool
	body    chan *takenBody
}

// claims tells whether the reflector has marked a request. A mark is good for one request.
func (t *takeover) claims(r *http.Request) bool {
	return t.fits(r) && t.claimed.CompareAndSwap(false, true)
}

// fits tells whether a request is the one that was marked, or a repetition of it.
func (t *takeover) fits(r *http.Request) bool {
	watches := r.URL.Query().Get("watch")
	return r.Method == http.MethodGet && (watches == "" || watches == "false") == t.list && strings.HasSuffix(r.URL.Path, t.path)
}

// takes takes a body over, and returns what the client gets in its place.
func (t *takeover) takes(body io.ReadCloser) io.ReadCloser {
	taken := &takenBody{ReadCloser: body, released: make(chan struct{})}
	t.body <- taken // has room for the one body
	in := &standIn{taken: taken}
	if t.list {
		in.text.Reset(emptyList)
	}
	return in
}

// takenBody is a body that a reflector reads. Closing it lets the client go on.
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

// emptyList is what the client of a list reads.
const emptyList = `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{},"items":[]}`

// standIn is the body that a client gets in place of one that was taken over: a
// list without items, or a watch without events. It comes when the reflector is done
// with the other body, so the client's own request lasts as long as the reading.
type standIn struct {
	taken *takenBody
	text  strings.Reader
}

func (s *standIn) Read(p []byte) (int, error) {
	<-s.taken.released
	return s.text.Read(p)
}

// Close is called by the client: when it is done, or when its request has ended.
func (s *standIn) Close() error {
	s.taken.once.Do(func() { close(s.taken.released) })
	return s.taken.ReadCloser.Close()
}
