package controllerruntime

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// tap counts the answers to requests for pods, and records what clients read from them. It wraps the
// transport under test, but does not wrap its bodies, because Wire would notice. If the transport under
// test passes the server's body on, everything read from this body was read by the client.
type tap struct {
	next    http.RoundTripper // the transport under test, around served
	answers atomic.Int64

	mu     sync.Mutex
	served map[io.ReadCloser]*strings.Builder // what was read from each body of the server
	passed map[io.ReadCloser]bool             // the bodies that were passed to clients
}

// newTap returns a tap that wraps the transport made by wrap, and is also next to the server.
func newTap(next http.RoundTripper, wrap func(http.RoundTripper) http.RoundTripper) *tap {
	p := &tap{served: map[io.ReadCloser]*strings.Builder{}, passed: map[io.ReadCloser]bool{}}
	p.next = &server{next, p}
	if wrap != nil {
		p.next = wrap(p.next)
	}
	return p
}

func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(r)
	if err == nil && ofPods(r) {
		p.answers.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.passed[answer.Body] = true
	}
	return answer, err
}

// WrappedRoundTripper allows closing idle connections.
func (p *tap) WrappedRoundTripper() http.RoundTripper { return p.next }

// seen reports whether clients have read a text.
func (p *tap) seen(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	for body, read := range p.served {
		if p.passed[body] && strings.Contains(read.String(), text) {
			return true
		}
	}
	return false
}

func ofPods(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") }

// server is the transport below the one under test. It records what is read from the server's bodies.
type server struct {
	next http.RoundTripper
	tap  *tap
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err == nil && ofPods(r) {
		body := &tapped{answer.Body, s.tap}
		answer.Body = body
		s.tap.mu.Lock()
		defer s.tap.mu.Unlock()
		s.tap.served[body] = &strings.Builder{}
	}
	return answer, err
}

// WrappedRoundTripper allows closing idle connections.
func (s *server) WrappedRoundTripper() http.RoundTripper { return s.next }

// tapped is the body of an answer.
type tapped struct {
	io.ReadCloser
	tap *tap
}

func (b *tapped) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	b.tap.mu.Lock()
	defer b.tap.mu.Unlock()

	b.tap.served[b].Write(to[:n])
	return n, err
}

// With Wire, controller-runtime's clients read no objects: neither in a list or stream, nor in the watch
// after it. Without Wire they read all objects.
func TestWireTakesTheAnswersOver(t *testing.T) {
	for name, o := range map[string]informertest.Options{"streams": {}, "lists": {NoWatchList: true}} {
		for _, i := range []implementation{tidemark, wired} {
			for _, f := range flavours {
				t.Run(name+"/"+i.name+"/"+f.name, func(t *testing.T) {
					var p *tap
					wrap, i := i.wrap, i
					i.wrap = func(next http.RoundTripper) http.RoundTripper {
						p = newTap(next, wrap)
						return p
					}
					r := newRig(t, i, o)
					r.create(t, pod("a", "first", "web"))
					c := r.started(t, cache.Options{})
					recorded, _ := handle(t, informerOf(t, c, f))
					r.create(t, pod("a", "second", "web"))
					for n, name := range []string{"first", "second"} {
						got := recorded.next(t, n).new
						assert.Equal(t, name, got.GetName())
						assert.Equal(t, i.name == tidemark.name, p.seen(name), "the client has read the object")
						if f.name != typed.name {
							assert.Equal(t, podKind, got.GetObjectKind().GroupVersionKind())
						}
					}
					assert.Positive(t, p.answers.Load())
				})
			}
		}
	}
}

// Objects that tidemark decodes share equal values in the store.
func TestWiredObjectsShareEqualValues(t *testing.T) {
	yes := true
	r := newRig(t, wired, informertest.Options{})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		p := pod("a", name, "web")
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LEVEL", Value: "info"}}
		r.create(t, p)
	}
	c := r.started(t, cache.Options{DefaultUnsafeDisableDeepCopy: &yes})
	env := func(name string) []corev1.EnvVar {
		found := typed.get(t, c, "a", name).(*corev1.Pod).Spec.Containers[0].Env
		require.Len(t, found, 2)
		return found
	}
	assert.Same(t, unsafe.SliceData(env("d")), unsafe.SliceData(env("e"))) // a value is shared from the third occurrence on
}
