package reflector

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
)

func keyOf(name string) indexer.Key { return indexer.Key{Namespace: "ns", Name: name} }

// transport is a user's transport around another one.
type transport func(r *http.Request, next http.RoundTripper) (*http.Response, error)

// around returns the transport as a function for a rest.Config.
func (f transport) around(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) { return f(r, next) })
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// likeControllerRuntime is a source of pods whose paths are not known.
func likeControllerRuntime(t *testing.T, config *rest.Config) Source {
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	pods := client.CoreV1().Pods("")
	return FromControllerRuntime(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) { return pods.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return pods.Watch(ctx, o) },
	}, &corev1.Pod{})
}

// onePod answers lists with a pod, watches with a change of it, and streams not at all.
func onePod() *pods {
	return &pods{
		list: func(_ int, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, podList("5", podText("a", "3", "")))
		},
		stream: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
		},
		watch: func(_ int, w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, podEvent("MODIFIED", podText("a", "6", "")))
			stays(w, r)
		},
	}
}

// A user's transport that fetches a token in the context of a list gets the token, and the list is
// decoded here.
func TestRequestsOfATransportAreItsOwn(t *testing.T) {
	server := onePod()
	inner := server.list
	server.list = func(n int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_, _ = io.WriteString(w, `{"token":"x"}`)
			return
		}
		inner(n, w, r)
	}
	config := server.serve(t)
	config.Wrap(Wire)
	var mu sync.Mutex
	tokens := map[string]bool{}
	config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, config.Host+"/token", nil)
		if err != nil {
			return nil, err
		}
		answer, err := next.RoundTrip(ask)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close() //nolint:errcheck // it is read
		token, err := io.ReadAll(answer.Body)
		mu.Lock()
		tokens[string(token)] = true
		mu.Unlock()
		if err != nil {
			return nil, err
		}
		return next.RoundTrip(r)
	}).around)
	f := follow(t, likeControllerRuntime(t, config), typeOfPod, Options{})
	f.until(func() bool { return f.stored[keyOf("a")] == "6" })
	mu.Lock()
	require.Equal(t, map[string]bool{`{"token":"x"}`: true}, tokens)
	mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Empty(t, eventsOf[Failed](f))
	paged := eventsOf[Paged](f)
	require.Positive(t, paged[len(paged)-1].Bytes, "it was decoded here")
}

// The same holds for a list without version and limit, whose query is empty, and for a token whose path looks
// like one of the Kubernetes API.
func TestRequestsOfATransportThatLookAlike(t *testing.T) {
	for _, path := range []string{"/api/token", "/api/v1/token", "/v1/api/auth/v2/token", "/apis/iam/v1/token"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			server := onePod()
			inner := server.list
			server.list = func(n int, w http.ResponseWriter, r *http.Request) {
				switch q := r.URL.Query(); {
				case r.URL.Path == path:
					_, _ = io.WriteString(w, `{"token":"x"}`)
				case q.Get("resourceVersion") != "", q.Get("continue") != "":
					w.WriteHeader(http.StatusGone)
				case q.Get("limit") != "":
					_, _ = io.WriteString(w, strings.Replace(podList("5", podText("a", "3", "")), `"5"`, `"5","continue":"next"`, 1))
				default:
					inner(n, w, r)
				}
			}
			config := server.serve(t)
			config.Wrap(Wire)
			config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, config.Host+path, nil)
				if err != nil {
					return nil, err
				}
				answer, err := next.RoundTrip(ask)
				if err != nil {
					return nil, err
				}
				defer answer.Body.Close() //nolint:errcheck // it is read
				if token, err := io.ReadAll(answer.Body); err != nil || string(token) != `{"token":"x"}` {
					return nil, fmt.Errorf("the token is %q: %w", token, err)
				}
				return next.RoundTrip(r)
			}).around)
			f := follow(t, likeControllerRuntime(t, config), typeOfPod, Options{})
			f.until(func() bool { return f.stored[keyOf("a")] == "6" })
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, failed := range eventsOf[Failed](f) {
				require.Equal(t, ErrorExpired, ClassOf(failed.Err), failed.Err)
			}
			paged := eventsOf[Paged](f)
			require.Positive(t, paged[len(paged)-1].Bytes, "it was decoded here")
		})
	}
}

// redacted replaces a version in a body, as a transport does that redacts or decrypts.
func redacted(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`"resourceVersion":"3"`), []byte(`"resourceVersion":"4"`))
}

// replaced is a body that is redacted while it is read.
type replaced struct{ io.ReadCloser }

func (b replaced) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	copy(p, redacted(p[:n]))
	return n, err
}

// read returns an answer whose body is read at once and replaced, unless it is a watch's.
func read(answer *http.Response) (*http.Response, error) {
	if answer.Request.URL.Query().Get("watch") != "" {
		return answer, nil
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // it is read
	answer.Body = io.NopCloser(bytes.NewReader(redacted(text)))
	return answer, err
}

// If a transport around Wire replaces the body of a list, the objects are those of the transport:
// the request fails once, says why, and the client decodes from then on. A transport that leaves
// bodies alone changes nothing. Both also hold for a client with a time-out.
func TestTransportsAroundWire(t *testing.T) {
	for name, row := range map[string]struct {
		change   func(*http.Response) (*http.Response, error)
		replaces bool
	}{
		"passes answers on": {func(a *http.Response) (*http.Response, error) { return a, nil }, false},
		"copies answers": {func(a *http.Response) (*http.Response, error) {
			other := *a
			other.Header = a.Header.Clone()
			return &other, nil
		}, false},
		"reads lists":   {read, true},
		"wraps bodies":  {func(a *http.Response) (*http.Response, error) { a.Body = replaced{a.Body}; return a, nil }, true},
		"ignores lists": {ignore, true},
	} {
		for timeout, limit := range map[string]time.Duration{"": 0, ", with a time-out": time.Hour} {
			t.Run(name+timeout, func(t *testing.T) {
				server := onePod()
				server.watch = nil
				config := server.serve(t)
				config.Timeout = limit
				config.Wrap(Wire)
				config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
					answer, err := next.RoundTrip(r)
					if err != nil {
						return nil, err
					}
					return row.change(answer)
				}).around)
				f := follow(t, clients["dynamic"].source(t, config), clients["dynamic"].object, Options{})
				committed := ""
				f.until(func() bool { committed = f.stored[keyOf("a")]; return committed != "" })
				f.mu.Lock()
				defer f.mu.Unlock()
				if !row.replaces {
					require.Empty(t, eventsOf[Failed](f))
					require.Equal(t, "3", committed)
					return
				}
				require.Equal(t, "4", committed)
				failed := eventsOf[Failed](f)
				require.Len(t, failed, 1)
				require.ErrorIs(t, failed[0].Err, ErrBadAnswer)
				require.ErrorContains(t, failed[0].Err, "call config.Wrap(reflector.Wire) last")
			})
		}
	}
}

// The same holds for the body of a watch.
func TestTransportsThatReplaceWatches(t *testing.T) {
	for timeout, limit := range map[string]time.Duration{"without a time-out": 0, "with a time-out": time.Hour} {
		t.Run(timeout, func(t *testing.T) {
			server := onePod()
			server.list = func(_ int, w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, podList("2", podText("a", "2", "")))
			}
			server.watch = func(_ int, w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, podEvent("MODIFIED", podText("a", "3", "")))
				stays(w, r)
			}
			config := server.serve(t)
			config.Timeout = limit
			config.Wrap(Wire)
			config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if err == nil && r.URL.Query().Get("watch") != "" {
					answer.Body = replaced{answer.Body}
				}
				return answer, err
			}).around)
			f := follow(t, clients["dynamic"].source(t, config), clients["dynamic"].object, Options{})
			changed := ""
			f.until(func() bool { changed = f.stored[keyOf("a")]; return changed > "2" })
			f.mu.Lock()
			defer f.mu.Unlock()
			require.Equal(t, "4", changed)
			failed := eventsOf[Failed](f)
			require.Len(t, failed, 1)
			require.ErrorIs(t, failed[0].Err, ErrBadAnswer)
		})
	}
}

// ignore puts another list in the place of one, unread.
func ignore(answer *http.Response) (*http.Response, error) {
	if answer.Request.URL.Query().Get("watch") == "" {
		answer.Body = io.NopCloser(strings.NewReader(podList("5", podText("a", "4", ""))))
	}
	return answer, nil
}

// A panic of a user's transport fails the request; the next one is answered. D28: if the transport ends its
// goroutine, the reflector ends.
func TestContract_D28_TransportsThatPanicOrExit(t *testing.T) {
	for name, end := range map[string]func(){"panics": func() { panic("a user's") }, "exits": runtime.Goexit} {
		for _, kind := range []string{"list", "watch"} {
			t.Run(name+" in a "+kind, func(t *testing.T) {
				config := onePod().serve(t)
				var ended atomic.Bool
				config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
					q := r.URL.Query()
					if q.Get("sendInitialEvents") == "" && (q.Get("watch") != "") == (kind == "watch") && ended.CompareAndSwap(false, true) {
						end()
					}
					return next.RoundTrip(r)
				}).around)
				if name == "exits" {
					r := New(clients["dynamic"].source(t, config), &collector{}, Options{Type: clients["dynamic"].object})
					require.ErrorIs(t, r.Run(t.Context()), indexer.ErrExited)
					return
				}
				f := follow(t, clients["dynamic"].source(t, config), clients["dynamic"].object, Options{})
				f.until(func() bool { return f.stored[keyOf("a")] == "6" })
				f.mu.Lock()
				defer f.mu.Unlock()
				failed := eventsOf[Failed](f)
				require.Len(t, failed, 1)
				require.ErrorIs(t, failed[0].Err, ErrPanic)
			})
		}
	}
}
