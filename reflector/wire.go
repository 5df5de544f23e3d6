package reflector

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// If a busy or failing server sends Retry-After, the reflector obeys and reports it, instead of the
// client.
//
// Call Wrap with Wire last: a transport that is added later does not see the objects. If it replaces
// a body, the request fails, and the client decodes from then on.
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
	if d := delayOf(r); d != nil {
		d.takes(answer)
	}
	if t, marked := r.Context().Value(takeoverKey{}).(*takeover); marked && readable(answer) && t.claims(r) {
		t.takes(r, answer)
	}
	return answer, nil
}

// readable reports whether the reflector can decode the format of an answer.
func readable(answer *http.Response) bool {
	kind := mediaType(answer)
	return kind == runtime.ContentTypeJSON || kind == runtime.ContentTypeProtobuf
}

// mediaType returns the media type of an answer, or "" if the request failed, or if the answer has
// another encoding on top.
func mediaType(answer *http.Response) string {
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != "" {
		return ""
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// wanted describes the request of a list or watch. Other requests may have its context, such as a
// user's transport's for a token.
type wanted struct {
	list    bool
	options metav1.ListOptions
	path    string // the end of the path; "" if it is not known
	// place is the host and the path of a source's requests, once they are known. It is nil if any path
	// of the Kubernetes API will do.
	place *atomic.Pointer[string]
}

// is reports whether a request is the one described, or a repetition of it.
func (w wanted) is(r *http.Request) bool {
	query, limit := r.URL.Query(), ""
	if w.options.Limit != 0 {
		limit = strconv.FormatInt(w.options.Limit, 10)
	}
	watches := query.Get("watch")
	return r.Method == http.MethodGet && (watches == "" || watches == "false") == w.list &&
		query.Get("resourceVersion") == w.options.ResourceVersion && query.Get("limit") == limit && query.Get("continue") == w.options.Continue &&
		w.isAt(r.URL)
}

// isAt reports whether a request with the right query has the right path. A source whose path is not
// known shows it by its first request whose query cannot be another one's.
func (w wanted) isAt(u *url.URL) bool {
	switch {
	case w.path != "":
		return strings.HasSuffix(u.Path, w.path)
	case !strings.Contains(u.Path, "/api/") && !strings.Contains(u.Path, "/apis/"):
		return false
	case w.place == nil:
		return true
	}
	at := u.Host + u.Path
	if !w.list || w.options.ResourceVersion != "" {
		w.place.CompareAndSwap(nil, &at)
	}
	known := w.place.Load()
	return known == nil || *known == at
}

// delayKey is the key of a *delay in a request's context.
type delayKey struct{}

// delay is the Retry-After of an answer. The client would wait for it silently, and the reflector
// would mistake that for a silent server.
type delay struct {
	wanted
	reader  *reader // who sends the request; nil if no OwnWrites can show it anything
	seconds atomic.Int64
	from    atomic.Pointer[http.Response]
}

// delayOf returns the delay in a request's context, if the request is a reflector's list or watch.
func delayOf(r *http.Request) *delay {
	d, ok := r.Context().Value(delayKey{}).(*delay)
	if !ok {
		return nil
	}
	if t, marked := r.Context().Value(takeoverKey{}).(*takeover); marked && !t.is(r) || !marked && !d.is(r) {
		return nil
	}
	return d
}

// takes removes the delay from an answer, so that the client returns the error. Of an answer that a
// transport has repeated, the last one counts; a second Wire gets the same one.
func (d *delay) takes(answer *http.Response) {
	if d.from.Swap(answer) == answer { //nolint:bodyclose // the client closes it
		return
	}
	d.seconds.Store(0)
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode < http.StatusInternalServerError {
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
	wanted
	claimed atomic.Bool
	body    chan *takenBody
}

// claims reports whether a request is the marked one. A mark is used once.
func (t *takeover) claims(r *http.Request) bool {
	return t.is(r) && t.claimed.CompareAndSwap(false, true)
}

// takes keeps the body of an answer for the reflector, and puts a stand-in in its place.
func (t *takeover) takes(r *http.Request, answer *http.Response) {
	in := &standIn{list: t.list, request: r, answer: answer, released: make(chan struct{})}
	body := &takenBody{Reader: answer.Body, standIn: in}
	body.close = sync.OnceValue(func(real io.Closer) func() error {
		return func() error {
			_ = real.Close() // it has been read, or is not needed
			close(in.released)
			return body.finish()
		}
	}(answer.Body))
	answer.Header = answer.Header.Clone()
	answer.Header.Set("Content-Type", runtime.ContentTypeJSON)
	answer.Body, answer.ContentLength = in, -1
	t.body <- body // has room for the one body
}

// takenBody is a body read by the reflector. Closing it lets the client continue.
type takenBody struct {
	io.Reader
	standIn *standIn
	close   func() error
	// finish ends the client's call. It returns an error if what was read here does not count.
	finish func() error
}

// Close closes the body once. It returns an error if what was read here does not count.
func (b *takenBody) Close() error { return b.close() }

// noMediaType makes the client return an error for a list, silently, and without measuring it.
const noMediaType = "/"

// standIn is the body that the client gets instead. It yields nothing, and ends when the reflector
// has closed the real body, so that the client's request lasts as long as the reading.
type standIn struct {
	list     bool
	request  *http.Request
	answer   *http.Response // with the stand-in as its body, unless a transport around Wire replaces it
	released chan struct{}
	read     atomic.Bool // to its end
}

func (s *standIn) Read([]byte) (int, error) {
	select {
	case <-s.released:
		s.read.Store(true)
	case <-s.request.Context().Done():
	}
	if s.list {
		s.answer.Header.Set("Content-Type", noMediaType)
	}
	return 0, io.EOF
}

// Close leaves the real body to the reflector.
func (s *standIn) Close() error { return nil }

// isBehind reports whether a body is the stand-in, or net/http's body around it, which a client with
// a time-out has.
func (s *standIn) isBehind(body io.ReadCloser) bool {
	if body == s {
		return true
	}
	v := reflect.ValueOf(body)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct || v.Type().Elem().PkgPath() != "net/http" {
		return false
	}
	inner := v.Elem().FieldByName("rc")
	return inner.IsValid() && inner.Kind() == reflect.Interface && inner.Elem().Kind() == reflect.Pointer && inner.Elem().Pointer() == reflect.ValueOf(s).Pointer()
}
