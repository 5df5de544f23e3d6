package informertest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/reflector"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// brokenBody is a body that arrives in small pieces, and ends with an error after some bytes.
type brokenBody struct {
	io.ReadCloser
	left int
}

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left, 1+b.left%97)])
	b.left -= n
	return n, err
}

// breakStreams breaks some of a client's streams of the initial state.
func breakStreams(r *rand.Rand) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(request)
			if err == nil && strings.Contains(request.URL.RawQuery, "sendInitialEvents") && r.IntN(3) == 0 {
				answer.Body = &brokenBody{answer.Body, r.IntN(6000)}
			}
			return answer, err
		})
	}
}

// strippingTransforms are transforms whose results differ from the server's objects.
var strippingTransforms = [4]func(*corev1.Pod){
	func(*corev1.Pod) {},
	func(p *corev1.Pod) { p.UID, p.ResourceVersion = "", "" },
	func(p *corev1.Pod) { p.UID = "" },
	func(p *corev1.Pod) { p.ResourceVersion += "0" },
}

// After many relists and broken streams, an informer's store and handlers have the server's objects. No
// object was transformed twice: a reused object is not transformed again.
func TestReuseLosesNothing(t *testing.T) {
	var transformed [2][4]atomic.Int64 // for objects decoded by the client and by the reflector, by transform
	seeds := uint64(60)
	if tier.Raced() && !tier.Long() {
		seeds = 20 // make test runs all seeds without the detector
	}
	for seed := range seeds {
		for i, reuse := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { relistALot(t, seed, reuse, &transformed[i][seed%4]) })
		}
	}
	for disguise := range strippingTransforms {
		require.Less(t, transformed[1][disguise].Load(), transformed[0][disguise].Load()*2/3, "disguise %d", disguise)
	}
}

func relistALot(t *testing.T, seed uint64, reuse bool, transformed *atomic.Int64) {
	r, disguise := rand.New(rand.NewPCG(seed, 1)), strippingTransforms[seed%4]
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.StartInMemory())
	var expired atomic.Bool
	s.Intercept(func(_ context.Context, r Request) error {
		if r.Verb == "watch" && !r.streams && expired.CompareAndSwap(true, false) {
			return apierrors.NewResourceExpired("gone")
		}
		return nil
	})
	config := protobufConfig(s)
	config.Wrap(breakStreams(rand.New(rand.NewPCG(seed, 2))))
	if reuse {
		config.Wrap(reflector.Wire)
	}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	pods := client.CoreV1().Pods("")
	source := reflector.From(pods)
	if reuse {
		source = reflector.FromGenerated[*corev1.Pod, *corev1.PodList](pods, corev1.SchemeGroupVersion.WithResource("pods"))
	}
	i := informer.New(source, informer.Options[*corev1.Pod]{
		Observe: func(informer.Event) {},
		Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			transformed.Add(1)
			p.Labels["transformed"] += "once"
			disguise(p)
			return p, nil
		},
	})
	recorded := map[string]string{}
	_, err = i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		if c.Kind == informer.Deleted {
			delete(recorded, c.Old.Name)
		} else {
			recorded[c.New.Name] = c.New.Labels["v"]
		}
	}), informer.HandlerOptions{})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	live := map[string]*corev1.Pod{}
	for range 25 {
		for range 1 + r.IntN(5) {
			changeOne(t, s, r, live)
		}
		expired.Store(true)
		s.CutWatches()
		time.Sleep(time.Duration(r.IntN(13)) * time.Minute)
	}
	time.Sleep(20 * time.Minute)
	synctest.Wait()
	want, stored := map[string]string{}, map[string]string{}
	for _, p := range live {
		want[p.Name] = p.Labels["v"]
	}
	for p := range i.Indexer().All() {
		stored[p.Name] = p.Labels["v"]
		require.Equal(t, "once", p.Labels["transformed"])
	}
	require.Equal(t, want, stored, "seed %d", seed)
	require.Equal(t, want, recorded, "seed %d", seed)
	cancel()
	require.NoError(t, wait())
}

// changeOne creates, updates or deletes a pod.
func changeOne(t *testing.T, s *Server, r *rand.Rand, live map[string]*corev1.Pod) {
	name := fmt.Sprint("p", r.IntN(12))
	p := newPod("a", name, "v", fmt.Sprint(r.IntN(1e6)))
	switch {
	case live[name] == nil:
		require.NoError(t, s.Create(t.Context(), p))
		live[name] = p
	case r.IntN(4) == 0:
		require.NoError(t, s.Delete(t.Context(), live[name]))
		delete(live, name)
	default:
		p.UID = live[name].UID
		require.NoError(t, s.Update(t.Context(), p))
		live[name] = p
	}
}
