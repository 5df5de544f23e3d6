package informer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// answers is a transport that answers requests without a network.
type answers struct {
	answer func(*http.Request) *http.Response
	n      atomic.Int64 // requests
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.n.Add(1)
	return a.answer(r), nil
}

func says(code int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// dynamically returns an informer over client-go's dynamic client and a transport.
func dynamically(t *testing.T, transport http.RoundTripper) *informer.Informer[*unstructured.Unstructured] {
	t.Helper()
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
	require.NoError(t, err)
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return informer.New(reflector.From(client.Resource(gvr)), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
}

const aPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5"}}`

// An answer that is not a list makes the list fail. The error shows in Status, and the store keeps
// its objects: it must not become empty.
func TestAnswersThatAreNoLists(t *testing.T) {
	for name, test := range map[string]struct {
		code   int
		body   string
		header []string
		most   int64 // requests in an hour
	}{
		"a page of HTML":       {code: 200, body: "<html>sign in</html>", header: []string{"Content-Type", "text/html"}, most: 300},
		"garbage":              {code: 200, body: "\x00\xff{", most: 300},
		"an object":            {code: 200, body: aPod, most: 300},
		"a status":             {code: 200, body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`, most: 300},
		"a redirect to itself": {code: 302, body: "", header: []string{"Location", "http://server/api/v1/pods"}, most: 3000},
		"nesting without end":  {code: 200, body: strings.Repeat(`{"a":`, 20_000), most: 300},
		"an item nested deeply": {code: 200, body: `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"a":` +
			strings.Repeat(`[`, 9_999) + strings.Repeat(`]`, 9_999) + `}]}`, most: 300},
		"a message of megabytes": {code: 500, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"` + strings.Repeat("x", 1<<17) + `"}`, most: 300},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hostile atomic.Bool
				transport := &answers{}
				transport.answer = func(r *http.Request) *http.Response {
					switch {
					case hostile.Load():
						answer := says(test.code, test.body, test.header...)
						answer.Request = r
						return answer
					case r.URL.Query().Get("sendInitialEvents") != "":
						return says(400, "")
					case r.URL.Query().Get("watch") != "":
						return says(200, "")
					}
					return says(200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4"},"items":[`+aPod+`]}`)
				}
				i := dynamically(t, transport)
				rig.Start(t, i)
				require.NoError(t, i.WaitSynced(t.Context()))
				hostile.Store(true)
				requestsBefore, errorsBefore := transport.n.Load(), i.Status().Errors
				time.Sleep(time.Hour)
				requests := transport.n.Load() - requestsBefore
				t.Logf("%d requests: %.200v", requests, i.Status().LastError)
				require.Equal(t, 1, i.Indexer().Len(), "the store is as it was")
				require.Greater(t, i.Status().Errors, errorsBefore)
				require.LessOrEqual(t, len(i.Status().LastError.Error()), object.MaxText+100)
				require.Greater(t, requests, int64(10))
				require.LessOrEqual(t, requests, test.most)
			})
		})
	}
}

// client-go waits within a call for as long as Retry-After says. The informer gives up such a call.
func TestRetryAfterAYearWithinTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &answers{answer: func(*http.Request) *http.Response { return says(429, "", "Retry-After", "31536000") }}
		i := dynamically(t, transport)
		rig.Start(t, i)
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, i.WaitSynced(ctx), reflector.ErrSilent)
		require.LessOrEqual(t, transport.n.Load(), int64(30))
	})
}

// bounded is a transport that ends each answer, except for watches, after a number of unpacked
// bytes. Users who do not trust the server can do the same.
type bounded struct {
	http.RoundTripper
	bytes int64
}

var errTooLong = errors.New("the answer is too long")

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") == "" {
		answer.Body = &boundedBody{answer.Body, b.bytes}
	}
	return answer, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// A list that unpacks to more bytes than a bounded transport allows fails with the transport's
// error, and is not read much further than the bound.
func TestAnAnswerThatUnpacksWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bomb := &bytes.Buffer{}
		packed := gzip.NewWriter(bomb)
		_, err := packed.Write(make([]byte, 8<<20))
		require.NoError(t, err)
		require.NoError(t, packed.Close())
		var read counter
		transport := bounded{&answers{answer: func(*http.Request) *http.Response {
			unpacked, err := gzip.NewReader(bytes.NewReader(bomb.Bytes())) // as http.Transport does
			if err != nil {
				panic(err)
			}
			answer := says(200, "")
			answer.Body = io.NopCloser(io.TeeReader(unpacked, &read))
			return answer
		}}, 1 << 20}
		i := dynamically(t, transport)
		rig.Start(t, i)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		require.ErrorContains(t, i.WaitSynced(ctx), errTooLong.Error())
		require.Less(t, read.n.Load(), int64(4<<20))
	})
}

type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// Managed fields that the transform removes do not stay in memory.
func TestManagedFieldsOfMegabytes(t *testing.T) {
	s := rig.NewScript("10")
	i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
		p.ManagedFields = nil
		return p, nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); require.NoError(t, wait()) })
	require.NoError(t, i.WaitSynced(t.Context()))
	before := heap()
	const objects = 100
	for n := range objects {
		s.Send(watch.Added, kit.Pod(fmt.Sprint(n), fmt.Sprint(100+n), func(p *corev1.Pod) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 1<<20))}}
		}))
	}
	rig.Eventually(t, func() bool { return i.Indexer().Len() == objects }, "all are stored")
	rig.Eventually(t, func() bool { return heap()-before < 10<<20 }, "the bytes are garbage")
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // it fits
}

// watchesHTML answers lists with a pod, refuses streams, and answers watches with a page of HTML.
func watchesHTML(r *http.Request) *http.Response {
	answer := says(200, "<html>sign in</html>", "Content-Type", "text/html")
	switch {
	case r.URL.Query().Get("sendInitialEvents") != "":
		answer = says(400, "")
	case r.URL.Query().Get("watch") == "":
		answer = says(200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4"},"items":[`+aPod+`]}`)
	}
	answer.Request = r
	return answer
}

// A page of HTML in place of a watch is a decoding error and not a broken connection, whether this
// module or client-go decodes it. The informer keeps its objects and retries with growing delays.
func TestAWatchAnsweredWithHTML(t *testing.T) {
	for name, start := range map[string]func(*testing.T, http.RoundTripper) func() informer.Status{
		"decoded here": func(t *testing.T, transport http.RoundTripper) func() informer.Status {
			client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
			pods := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), schema.GroupVersionResource{Version: "v1", Resource: "pods"})
			i := informer.New(pods, informer.Options[*corev1.Pod]{Observe: rig.Observed})
			rig.Start(t, i)
			return i.Status
		},
		"decoded by client-go": func(t *testing.T, transport http.RoundTripper) func() informer.Status {
			i := dynamically(t, transport)
			rig.Start(t, i)
			return i.Status
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				status := start(t, &answers{answer: watchesHTML})
				time.Sleep(time.Hour)
				st := status()
				require.True(t, st.Synced)
				require.Equal(t, 1, st.Objects)
				require.Equal(t, map[reflector.ErrorClass]int{reflector.ErrorDecode: st.Errors}, st.Totals.Errors)
				require.Contains(t, strings.ToLower(st.LastError.Error()), "html")
				require.Greater(t, st.Totals.Waits, 60, "a minute is the longest delay")
				require.Less(t, st.Totals.Waits, 120, "half a minute the shortest, in the long run")
			})
		})
	}
}
