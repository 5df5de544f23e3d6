package reflector_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// broken is a body that breaks off.
type broken struct {
	io.Reader
	err error
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

// repeated is a text that comes so many times.
type repeated struct {
	text string
	left int
	rest string // of the text that is being read
}

func (r *repeated) Read(p []byte) (int, error) {
	switch {
	case r.rest != "":
	case r.left == 0:
		return 0, io.EOF
	default:
		r.left, r.rest = r.left-1, r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// The client gets the server's answer, whatever it is, and the sink no more than the answer proves.
func TestAnswersArePassedOnUnchanged(t *testing.T) {
	var next func(*http.Request) (*http.Response, error)
	_, config := inMemory(t)
	answering(config, func(r *http.Request) (*http.Response, error) { return next(r) })
	s := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
	rt, url := wireOf(t, config)
	cut := errors.New("cut off")
	long := strings.Repeat("x", 4096)
	for _, row := range []struct {
		name, method, path, body, mediaType, encoding string
		code                                          int
		answer                                        func() io.Reader
		size                                          int64
		want                                          []ownwrites.Kind
		err                                           error
		noGetBody                                     bool
		memory                                        uint64 // that is allocated, if it is much
	}{
		{name: "an object", want: []ownwrites.Kind{ownwrites.Object}},
		{name: "an object of known size", size: int64(len(podText)), want: []ownwrites.Kind{ownwrites.Object}},
		{name: "a wrong size", size: 1 << 50, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "no copy of the body", noGetBody: true, body: `{"metadata":{"resourceVersion":"1"}}`, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "no copy of options", noGetBody: true, method: "DELETE", body: "{}", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a condition", body: `{"metadata":{"resourceVersion":"1"}}`, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "broken off", answer: func() io.Reader { return broken{strings.NewReader(podText), cut} }, want: []ownwrites.Kind{ownwrites.Doubt}, err: cut},
		{name: "broken off as net/http says", answer: func() io.Reader { return broken{strings.NewReader(podText), io.ErrUnexpectedEOF} }, want: []ownwrites.Kind{ownwrites.Doubt}, err: io.ErrUnexpectedEOF},
		{name: "large", answer: func() io.Reader { return &repeated{text: long, left: 100 << 20 / len(long)} }, want: []ownwrites.Kind{ownwrites.Doubt}, memory: 128 << 20},
		{name: "large, of known size", size: 100 << 20, answer: func() io.Reader { return &repeated{text: long, left: 100 << 20 / len(long)} }, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "compressed", encoding: "gzip", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "CBOR", mediaType: "application/cbor", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a page", mediaType: "text/html", answer: func() io.Reader { return strings.NewReader("<html>") }, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a Scale", path: "/scale", answer: func() io.Reader {
			return strings.NewReader(strings.NewReplacer(`"v1"`, `"autoscaling/v1"`, "Pod", "Scale").Replace(podText))
		}, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "metadata", answer: func() io.Reader {
			return strings.NewReader(strings.NewReplacer(`"v1"`, `"meta.k8s.io/v1"`, "Pod", "PartialObjectMetadata").Replace(podText))
		}, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "another kind", answer: func() io.Reader { return strings.NewReader(strings.ReplaceAll(podText, "Pod", "Node")) }, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "fields of wrong types", answer: func() io.Reader { return strings.NewReader(podText[:len(podText)-1] + `,"spec":7}`) }, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "conflict", code: http.StatusConflict},
		{name: "failure", code: http.StatusInternalServerError, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "exec", method: "POST", path: "/exec"},
		{name: "eviction", method: "POST", path: "/eviction", code: 201, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "relative", path: "/../a"},
		{name: "empty parts", path: "//a"},
		{name: "a name with a slash", path: "%2Fstatus", want: []ownwrites.Kind{ownwrites.Object}},
	} {
		t.Run(row.name, func(t *testing.T) {
			shows := row.answer == nil && len(row.want) > 0 && row.want[0] == ownwrites.Object
			if row.answer == nil {
				row.answer = func() io.Reader { return strings.NewReader(podText) }
			}
			if row.size == 0 {
				row.size = -1
			}
			header := http.Header{"Content-Type": {orElse(row.mediaType, "application/json")}, "X": {"y"}}
			if row.encoding != "" {
				header.Set("Content-Encoding", row.encoding)
			}
			answer := http.Response{StatusCode: max(row.code, 200), Header: header, ContentLength: row.size}
			next = func(r *http.Request) (*http.Response, error) {
				sent, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, row.body, string(sent))
				a := answer
				a.Body = io.NopCloser(row.answer())
				return &a, nil
			}
			r, err := http.NewRequestWithContext(t.Context(), orElse(row.method, http.MethodPut), url+row.path, strings.NewReader(row.body))
			require.NoError(t, err)
			if row.noGetBody {
				r.GetBody = nil
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := rt.RoundTrip(r)
			require.NoError(t, err)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, max(row.memory, 17<<20))
			require.Equal(t, [3]any{answer.StatusCode, header, row.size}, [3]any{got.StatusCode, got.Header, got.ContentLength})
			same(t, row.answer(), got.Body, row.err)
			require.NoError(t, got.Body.Close())
			answers := s.take()
			require.Equal(t, row.want, kinds(answers))
			if len(answers) > 0 {
				require.Equal(t, shows, answers[0].Object != nil)
				require.Equal(t, shows, answers[0].Scope == ownwrites.Inside)
			}
		})
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// same compares two bodies, and the error of the second.
func same(t *testing.T, want, got io.Reader, failure error) {
	t.Helper()
	a, b := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(got, b)
		m, _ := io.ReadFull(want, a)
		require.Equal(t, string(a[:m]), string(b[:n]))
		if err != nil {
			if failure == nil || n > 0 && errors.Is(failure, io.ErrUnexpectedEOF) {
				require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
			} else {
				require.ErrorIs(t, err, failure)
			}
			return
		}
	}
}

// unsentError is the error of a transport that has sent nothing.
type unsentError struct{ error }

func (unsentError) NotSent() bool { return true }

// Errors are passed on, and leave doubt unless nothing was sent.
func TestErrorsOfWrites(t *testing.T) {
	failure := errors.New("connection reset")
	for _, err := range []error{failure, unsentError{failure}, errors.Join(unsentError{failure})} {
		_, config := inMemory(t)
		own := answering(config, func(*http.Request) (*http.Response, error) { return nil, err })
		s := newShown()
		stop := reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})
		rt, url := wireOf(t, config)
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(`{"metadata":{"resourceVersion":"1"}}`))
		_, got := rt.RoundTrip(r) //nolint:bodyclose // there is none
		require.Equal(t, err, got)
		if err == failure { //nolint:errorlint // the one without a wrapper
			require.Equal(t, []ownwrites.Kind{ownwrites.Doubt}, kinds(s.take()))
		} else {
			require.Empty(t, s.take())
		}
		older, newer := pod("a", "1"), pod("a", "1")
		older.UID, older.ResourceVersion, newer.UID, newer.ResourceVersion = "u", "1", "u", "2"
		require.False(t, own.Made("", older, newer))
		stop()
	}
}

// A transport that returns neither an answer nor an error gives the client's error, and leaves doubt.
func TestTransportsThatReturnNothing(t *testing.T) {
	nothing := func(*http.Request) (*http.Response, error) { return nil, nil } //nolint:nilnil // that is the point
	_, config := inMemory(t)
	answering(config, nothing)
	s, client := newShown(), typedClient(t, config)
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	require.Error(t, client.CoreV1().Pods("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	require.Equal(t, ownwrites.Doubt, s.one(t).Kind)

	_, config = inMemory(t)
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return round(nothing) })
	config.Wrap(reflector.NewOwnWrites().Wire)
	ctx, cancel := context.WithCancel(t.Context())
	var failed error
	observe := func(e reflector.Event) {
		if f, ok := e.(reflector.Failed); ok && failed == nil {
			failed = f.Err
			cancel()
		}
	}
	require.NoError(t, reflector.New(podSource(typedClient(t, config), ""), newShown(), reflector.Options{Observe: observe}).Run(ctx))
	require.Error(t, failed)
	require.NotErrorIs(t, failed, reflector.ErrPanic)
}

// A body that cannot be copied leaves doubt about a deletion, and is sent.
func TestBodiesThatCannotBeCopied(t *testing.T) {
	for name, copies := range map[string]func(chan struct{}) (io.ReadCloser, error){
		"fails":  func(chan struct{}) (io.ReadCloser, error) { return nil, errors.New("used up") },
		"panics": func(chan struct{}) (io.ReadCloser, error) { panic("of a body") },
		"exits":  func(chan struct{}) (io.ReadCloser, error) { runtime.Goexit(); return nil, nil },
		"hangs":  func(end chan struct{}) (io.ReadCloser, error) { <-end; return nil, errors.New("ended") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, config := inMemory(t)
				answering(config, func(r *http.Request) (*http.Response, error) {
					sent, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					require.Equal(t, "{}", string(sent))
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText))}, nil
				})
				s := newShown()
				defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
				rt, url := wireOf(t, config)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, strings.NewReader("{}"))
				require.NoError(t, err)
				end := make(chan struct{})
				defer close(end)
				r.GetBody = func() (io.ReadCloser, error) { return copies(end) }
				since := time.Now()
				answer, err := rt.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				require.LessOrEqual(t, time.Since(since), time.Second)
				a := s.one(t)
				require.Equal(t, ownwrites.Doubt, a.Kind)
				require.EqualValues(t, 7, a.Before.History)
			})
		})
	}
}
