package reflector

import (
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// SkipUnchanged wraps the transport of a client so that a relist does not
// decode what the [Sink] holds already, which is most of what a relist costs:
//
//	config.ContentType = runtime.ContentTypeProtobuf
//	config.Wrap(reflector.SkipUnchanged)
//	client, err := kubernetes.NewForConfig(config)
//
// It looks for the UID and resourceVersion at the beginning of each object that
// a stream of the initial state brings (KEP-3157, WatchList) and asks the sink,
// if that is a [Recaller], as an informer's is. It does so in protobuf, which the
// built-in kinds and all metadata come in; JSON, lists and all other requests of
// the client pass through untouched.
//
// The [Source] has to pass its context on to the client, and to make one stream of
// it. An informer whose transform changes UIDs or versions skips nothing, nor does
// one that stores an object under another key than the server's.
func SkipUnchanged(next http.RoundTripper) http.RoundTripper { return skipper{next} }

type skipper struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = skipper{}

// WrappedRoundTripper returns the transport that does the work.
func (s skipper) WrappedRoundTripper() http.RoundTripper { return s.next }

// RoundTrip does the request. The body of a stream's answer leaves out what is
// known to whoever put itself into the request's context.
func (s skipper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if known, ok := r.Context().Value(omitterKey{}).(omitter); ok && err == nil && streamsProtobuf(answer) {
		answer.Body, answer.ContentLength = newFrames(answer.Body, known), -1
	}
	return answer, err
}

func streamsProtobuf(answer *http.Response) bool {
	kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return err == nil && kind == runtime.ContentTypeProtobuf && params["stream"] == "watch" &&
		answer.StatusCode == http.StatusOK && answer.Header.Get("Content-Encoding") == ""
}
