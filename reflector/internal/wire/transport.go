package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Transport takes over the answers to the requests of a [TakingClient]. For requests with a [Mark],
// it hides what would make the client repeat them. All other requests pass through unchanged.
type Transport struct{ Next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = Transport{}

// WrappedRoundTripper returns the inner transport.
func (w Transport) WrappedRoundTripper() http.RoundTripper { return w.Next }

// RoundTrip sends the request. If the request's context has a takeover, the reflector gets the body of
// the answer.
func (w Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.Next.RoundTrip(r)
	m := markOf(r)
	if err != nil && m != nil {
		err = m.hides(r, err)
	}
	if err != nil || answer == nil { // a broken transport returns neither
		return answer, err
	}
	if m != nil {
		m.takes(answer)
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

// mediaType returns the media type of an answer. It returns "" if the request failed, or if the answer
// has an additional encoding.
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

// request describes the request of a list or watch. Other requests may have its context, for instance
// when a user's transport requests a token.
type request struct {
	list    bool
	options metav1.ListOptions
	path    string // the end of the path; "" if unknown
	// place is the host and the path of a source's requests, once they are known. If it is nil, any path
	// of the Kubernetes API is accepted.
	place *atomic.Pointer[string]
}

// is reports whether a request is the described request or a repetition of it.
func (w request) is(r *http.Request) bool {
	query, limit := r.URL.Query(), ""
	if w.options.Limit != 0 {
		limit = strconv.FormatInt(w.options.Limit, 10)
	}
	watches := query.Get("watch")
	return r.Method == http.MethodGet && (watches == "" || watches == "false") == w.list &&
		query.Get("resourceVersion") == w.options.ResourceVersion && query.Get("limit") == limit && query.Get("continue") == w.options.Continue &&
		w.isAt(r.URL)
}

// isAt reports whether a request with the expected query has the expected path. If a source's path is
// unknown, its first request whose query is unambiguous determines the path.
func (w request) isAt(u *url.URL) bool {
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

// takeoverKey is the key of a *takeover in a request's context.
type takeoverKey struct{}

// takeover marks a request whose answer the reflector decodes.
type takeover struct {
	request
	claimed atomic.Bool
	body    chan *realBody
}

// claims reports whether a request is the marked request. A mark is used once.
func (t *takeover) claims(r *http.Request) bool {
	return t.is(r) && t.claimed.CompareAndSwap(false, true)
}

// takes keeps the body of an answer for the reflector, and replaces it with a stand-in.
func (t *takeover) takes(r *http.Request, answer *http.Response) {
	in := &standIn{list: t.list, request: r, answer: answer, released: make(chan struct{})}
	body := &realBody{Reader: answer.Body, standIn: in}
	body.close = sync.OnceValue(func(real io.Closer) func() error {
		return func() error {
			_ = real.Close() // the body was read or is not needed
			close(in.released)
			return body.finish()
		}
	}(answer.Body))
	answer.Header = answer.Header.Clone()
	answer.Header.Set("Content-Type", runtime.ContentTypeJSON)
	answer.Body, answer.ContentLength = in, -1
	t.body <- body // has room for the one body
}

// realBody is a body that the reflector reads. Closing it lets the client continue.
type realBody struct {
	io.Reader
	standIn *standIn
	close   func() error
	// finish ends the client's call. It returns an error if the bytes that were read are invalid.
	finish func() error
	cut    bool // reading failed because the request had timed out
}

// Read reads the body. An error of a request that has timed out becomes a timeout error, which
// http.Client does above this transport.
func (b *realBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && b.standIn.timedOut() {
		b.cut, err = true, fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return n, err
}

// Close closes the body once. It returns an error if the bytes that were read are invalid.
func (b *realBody) Close() error { return b.close() }

// noStatus makes the client return an error for a list, without logging or measuring it, after the
// client has handled the list's warnings.
const noStatus = 0

// standIn is the body that the client gets instead of the real one. It is empty, and ends when the
// reflector closes the real body. So the client's request lasts as long as the reading.
type standIn struct {
	list     bool
	request  *http.Request
	answer   *http.Response // with the stand-in as its body, unless a transport around Wire replaces it
	released chan struct{}
	read     atomic.Bool // the client has read it to its end
}

func (s *standIn) Read([]byte) (int, error) {
	select {
	case <-s.released:
		s.read.Store(true)
	case <-s.request.Context().Done():
	}
	switch {
	case s.list && s.timedOut():
		return 0, context.DeadlineExceeded // the client turns it into an error
	case s.list:
		s.answer.StatusCode = noStatus
	}
	return 0, io.EOF
}

// timedOut reports whether a deadline has ended the request, such as a client's timeout. Such a client
// also closes Cancel, before or after the deadline.
func (s *standIn) timedOut() bool {
	select {
	case <-s.request.Cancel: //nolint:staticcheck // deprecated, but http.Client closes it
		return true
	default:
		return errors.Is(s.request.Context().Err(), context.DeadlineExceeded)
	}
}

// Close does not close the real body, which belongs to the reflector.
func (s *standIn) Close() error { return nil }

// isBehind reports whether a body is the stand-in, or the body that net/http wraps around it for a
// client with a timeout.
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
