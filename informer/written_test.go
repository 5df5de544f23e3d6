package informer_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// linked starts the server, and returns a config whose clients' writes are the program's own.
func (k *kept) linked(t *testing.T) *rest.Config {
	t.Helper()
	require.NoError(t, k.server.StartInMemory())
	config := k.server.ClientConfig()
	config.Wrap(reflector.NewOwnWrites().Wire)
	return config
}

// D35: a write whose call has returned because its context has ended, while the store was busy, is counted. WaitFresh
// waits for it.
func TestContract_D35_AWriteThatWasNotWaitedFor(t *testing.T) {
	for name, fails := range map[string]bool{"answered": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			inKept(t, func(t *testing.T, k *kept) {
				require.NoError(t, k.server.StartInMemory())
				config := k.server.ClientConfig()
				config.Wrap(func(next http.RoundTripper) http.RoundTripper { return cutOff{next, fails} })
				config.Wrap(reflector.NewOwnWrites().Wire)
				client := kubernetes.NewForConfigOrDie(config)
				busy := make(chan struct{})
				i := informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), pods), informer.Options[*corev1.Pod]{
					Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
						if p.Name == "made" {
							<-busy
						}
						return p, nil
					},
				})
				defer k.start(i)()
				require.NoError(t, i.WaitSynced(t.Context()))
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				_, err := client.CoreV1().Pods("default").Create(ctx, podIn("default", "made"), metav1.CreateOptions{})
				require.Equal(t, fails, err != nil)
				o := i.Status().OwnWrites
				require.Equal(t, map[bool][2]uint64{false: {1, 0}, true: {0, 1}}[fails], [2]uint64{o.Waiting, o.Doubtful})
				fresh := make(chan error, 1)
				go func() { fresh <- i.WaitFresh(t.Context()) }()
				synctest.Wait()
				require.Empty(t, fresh)
				close(busy)
				require.NoError(t, <-fresh)
				require.Contains(t, names(i), "made")
			})
		})
	}
}

// D35: a late answer is counted as waiting when its call returns, and not again when the run drops it or the store
// shows it.
func TestContract_D35_ALateAnswerIsCountedOnce(t *testing.T) {
	for _, ends := range []bool{false, true} {
		inKept(t, func(t *testing.T, k *kept) {
			client, busy := kubernetes.NewForConfigOrDie(k.linked(t)), make(chan struct{})
			i := informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), pods), informer.Options[*corev1.Pod]{
				Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
					if p.Name == "made" {
						<-busy
					}
					return p, nil
				},
			})
			stop := k.start(i)
			require.NoError(t, i.WaitSynced(t.Context()))
			resume := k.server.Stall(informertest.Request{Verb: "watch", Resource: "pods"})
			_, err := client.CoreV1().Pods("default").Create(t.Context(), podIn("default", "made"), metav1.CreateOptions{})
			require.NoError(t, err)
			require.Equal(t, informer.OwnWrites{Linked: true, Waiting: 1}, i.Status().OwnWrites)
			if ends {
				time.AfterFunc(time.Second, func() { close(busy) })
			} else {
				close(busy)
				synctest.Wait()
				require.Contains(t, names(i), "made")
			}
			resume()
			stop()
			o := i.Status().OwnWrites
			require.Equal(t, [3]uint64{0, 1, 0}, [3]uint64{o.Shown, o.Waiting, o.Doubtful})
		})
	}
}

// cutOff is a transport that may return no answer to a creation before its context ends.
type cutOff struct {
	http.RoundTripper
	fails bool
}

func (c cutOff) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if c.fails && r.Method == http.MethodPost {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return answer, err
}

// D35: an informer that is stuck in a function of the program delays no other informer, and a write only once.
func TestContract_D35_AStuckInformerDelaysOneWrite(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		client := kubernetes.NewForConfigOrDie(k.linked(t))
		source := func() reflector.Source {
			return reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), pods)
		}
		gate := make(chan struct{})
		stuck := informer.New(source(), informer.Options[*corev1.Pod]{Observe: quiet, Indexes: []indexer.Index[*corev1.Pod]{{
			Name: "stuck", Append: func(values []string, p *corev1.Pod) []string {
				if p.Name == "own-0" {
					<-gate
				}
				return values
			},
		}}})
		healthy := informer.New(source(), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(stuck)()
		defer k.start(healthy)()
		defer close(gate)
		defer k.server.Stall(informertest.Request{Verb: "watch", Resource: "pods"})()
		for n := range 5 {
			began := time.Now()
			p, err := client.CoreV1().Pods("default").Create(t.Context(), podIn("default", fmt.Sprint("own-", n)), metav1.CreateOptions{})
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(began), time.Second)
			require.Equal(t, n == 0, time.Since(began) > 0, "write %d", n)
			require.Contains(t, names(healthy), p.Name)
		}
		require.EqualValues(t, 5, healthy.Status().OwnWrites.Shown)
		require.EqualValues(t, 5, stuck.Status().OwnWrites.Waiting)
	})
}

// D35: a write during the first full state waits for nothing: it cannot be shown.
func TestContract_D35_AWriteDuringTheFirstFullState(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		client, busy := kubernetes.NewForConfigOrDie(k.linked(t)), make(chan struct{})
		i := informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), pods), informer.Options[*corev1.Pod]{
			Observe: quiet, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
				<-busy
				return p, nil
			},
		})
		defer k.start(i)()
		began := time.Now()
		_, err := client.CoreV1().Pods("default").Create(t.Context(), podIn("default", "made"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, i.Status().OwnWrites.Waiting)
		close(busy)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Contains(t, names(i), "made")
	})
}

// D35: an informer is not linked any more once one of its requests has gone to another server.
func TestContract_D35_RequestsToAnotherServer(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		config := k.linked(t)
		var elsewhere atomic.Bool
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet && elsewhere.Load() {
					r = r.Clone(r.Context())
					r.URL.Host = "another.example.com"
				}
				return next.RoundTrip(r)
			})
		})
		client := kubernetes.NewForConfigOrDie(config)
		i := informer.New(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), pods), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitSynced(t.Context()))
		require.True(t, i.Status().OwnWrites.Linked)
		elsewhere.Store(true)
		time.Sleep(2 * time.Second) // a watch that lasts less would have failed
		k.server.CutWatches()
		synctest.Wait()
		require.False(t, i.Status().OwnWrites.Linked)
	})
}

// D35, D40: a packed store of metadata keeps nothing else of what the program writes.
func TestContract_D35_PackedMetadataOfAWrite(t *testing.T) {
	for _, content := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		inKept(t, func(t *testing.T, k *kept) {
			config := k.linked(t)
			client := kubernetes.NewForConfigOrDie(withContent(config, content))
			i := informer.New(reflector.FromMetadata(metadata.NewForConfigOrDie(config), corev1.SchemeGroupVersion.WithResource("secrets"), ""),
				informer.Options[*metav1.PartialObjectMetadata]{Observe: quiet, Storage: informer.Storage{Decoded: informer.NewBudget(0)}})
			ctx, cancel := context.WithCancel(t.Context())
			wait, err := i.Start(ctx)
			require.NoError(t, err)
			defer func() { cancel(); require.NoError(t, wait()) }()
			require.NoError(t, i.WaitSynced(t.Context()))
			defer k.server.Stall(informertest.Request{Verb: "watch", Resource: "secrets"})()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"a": "b"}}, Data: map[string][]byte{"key": bytes.Repeat([]byte("word"), 25_000)}}
			_, err = client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{})
			require.NoError(t, err)
			status := i.Status()
			require.EqualValues(t, 1, status.OwnWrites.Shown)
			require.Zero(t, status.Storage.Pinned)
			require.Less(t, status.Storage.Packed, int64(100_000))
			stored, ok := i.Indexer().Get(indexer.Key{Namespace: "default", Name: "s"})
			require.True(t, ok)
			require.Equal(t, secret.Labels, stored.Labels)
		})
	}
}
