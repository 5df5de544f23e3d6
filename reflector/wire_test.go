package reflector

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// connection describes a connection between a client and a server.
type connection struct {
	http2, zipped bool
	encoding      string // the content encoding that the server declares
}

// streams is a server that answers each watch with the same body, in pieces,
// and then waits.
func (c connection) streams(t *testing.T, body []byte) *rest.Config {
	ended := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.http2 != (r.ProtoMajor == 2) {
			panic(r.Proto)
		}
		w.Header().Set("Content-Type", kruntime.ContentTypeProtobuf+";stream=watch")
		if c.encoding != "" {
			w.Header().Set("Content-Encoding", c.encoding)
		}
		c.write(w, body)
		<-ended
	}))
	server.EnableHTTP2 = c.http2
	if c.http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: kruntime.ContentTypeProtobuf}}
	config.Insecure = c.http2
	return config
}

// write writes the body. The client may be gone.
func (c connection) write(w http.ResponseWriter, body []byte) {
	var out io.Writer = w
	flush := func() { _ = http.NewResponseController(w).Flush() }
	if c.zipped {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		out, flush = zip, func() {
			_ = zip.Flush()
			_ = http.NewResponseController(w).Flush()
		}
	}
	for len(body) > 0 {
		n := min(len(body), 501)
		_, _ = out.Write(body[:n])
		body = body[n:]
		flush()
	}
}

// relists runs a reflector of a server's pods until a full state is committed. The sink already is
// at a version.
func relists(t *testing.T, config *rest.Config, sink *rememberer) []deltafifo.Delta {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	r := New(From(client.CoreV1().Pods("")), sink, ofType[*corev1.Pod](Options{Version: "5"}))
	go func() { ended <- r.Run(ctx) }()
	<-sink.committed
	cancel()
	require.NoError(t, <-ended)
	return sink.written()
}

func TestWirePutsBackWhatTheSinkHolds(t *testing.T) {
	var held []*corev1.Pod
	var sent []watch.Event
	for i := range 300 {
		p := somePod(fmt.Sprint("pod-", i), "3")
		held = append(held, p)
		if i%10 == 0 {
			p = somePod(p.Name, "7")
		}
		sent = append(sent, watch.Event{Type: watch.Added, Object: p})
	}
	body := encoded(t, append(sent, endOfState("9"))...)
	for _, c := range []connection{{}, {http2: true}, {zipped: true}, {http2: true, zipped: true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := c.streams(t, body)
			for _, d := range relists(t, config, newRememberer(held...)) {
				require.False(t, d.Recalled, "nothing is left out but by the transport")
			}
			config.Wrap(Wire)
			deltas := relists(t, config, newRememberer(held...))
			require.Len(t, deltas, len(held))
			for i, d := range deltas {
				require.Equal(t, deltafifo.Added, d.Op)
				require.Equal(t, idOf(podOf(d)), id{d.Key, d.UID, d.Version})
				require.Equal(t, i%10 != 0, d.Recalled)
				if d.Recalled {
					require.Same(t, held[i], d.Object)
				} else {
					require.Equal(t, held[i].Name, podOf(d).Labels["app"], "what has changed comes whole")
				}
			}
		})
	}
}

// The transport changes only streams in plain protobuf, and not an answer with an unknown content
// encoding.
func TestWireLeavesOtherAnswersAlone(t *testing.T) {
	sink := newRememberer(somePod("a", "1"))
	config := connection{encoding: "x-none"}.streams(t, encoded(t, watch.Event{Type: watch.Added, Object: somePod("a", "1")}, endOfState("9")))
	config.Wrap(Wire)
	deltas := relists(t, config, sink)
	require.Len(t, deltas, 1)
	require.False(t, deltas[0].Recalled)
}

func TestStreamsProtobuf(t *testing.T) {
	const protobuf = kruntime.ContentTypeProtobuf
	for _, row := range []struct {
		code    int
		media   string
		streams bool
	}{
		{http.StatusOK, protobuf + ";stream=watch", true},
		{http.StatusInternalServerError, protobuf + ";stream=watch", false},
		{http.StatusOK, protobuf, false},
		{http.StatusOK, "application/json;stream=watch", false},
		{http.StatusOK, "", false},
	} {
		answer := http.Response{StatusCode: row.code, Header: http.Header{"Content-Type": {row.media}}}
		require.Equal(t, row.streams, streamsProtobuf(&answer), "%+v", row)
	}
}

type refuser struct{ err error }

func (r refuser) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestWirePassesErrorsOn(t *testing.T) {
	refused := refuser{errors.New("refused")}
	ctx := context.WithValue(t.Context(), omitterKey{}, &knows{})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1", nil)
	require.NoError(t, err)
	_, err = Wire(refused).RoundTrip(request) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, refused.err)
	require.Equal(t, refused, wire{refused}.WrappedRoundTripper())
}

// ofMetadata is a sink that holds the metadata of one object.
type ofMetadata struct {
	collector
	held      *metav1.PartialObjectMetadata
	committed chan struct{}
}

func (s *ofMetadata) Recall(key indexer.Key, uid, version string) (any, bool) {
	return s.held, id{key, uid, version} == idOf(s.held)
}

func (s *ofMetadata) Commit(context.Context, string) error {
	s.committed <- struct{}{}
	return nil
}

// Metadata clients request protobuf without configuration.
func TestWireOfMetadata(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
	held := &metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Name: "n", UID: types.UID("u"), ResourceVersion: "3"}}
	end := &metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: endOfState("9").Object.(*corev1.Pod).ObjectMeta}
	config := connection{}.streams(t, encodedAs(t, protobuf(t).Serializer, watch.Event{Type: watch.Added, Object: held}, watch.Event{Type: watch.Bookmark, Object: end}))
	config.Wrap(Wire)
	client, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	sink := &ofMetadata{held: held, committed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	r := New(From(client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"})), sink, ofType[*metav1.PartialObjectMetadata](Options{Version: "5"}))
	go func() { ended <- r.Run(ctx) }()
	<-sink.committed
	cancel()
	require.NoError(t, <-ended)
	require.Len(t, sink.batches, 1)
	require.True(t, sink.batches[0][0].Recalled)
	require.Same(t, held, sink.batches[0][0].Object)
}
