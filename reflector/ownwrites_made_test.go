package reflector_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// What the program has made is forgotten when the server's history goes back, and so is a write that was under way.
func TestMadeIsForgottenWithTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, config := inMemory(t)
		var restored, slow atomic.Bool
		hold := make(chan struct{})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if r.Method == http.MethodPost && slow.Load() {
					<-hold
				}
				return answer, err
			})
		})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodGet || !restored.Load() {
					return next.RoundTrip(r)
				}
				code, text := http.StatusOK, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
				if r.URL.Query().Get("watch") != "" {
					code, text = http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`
				}
				return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
			})
		})
		own := reflector.NewOwnWrites()
		config.Wrap(own.Wire)
		client := typedClient(t, config)
		defer reads(t, podSource(client, ""), newShown(), &corev1.Pod{})()
		_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("b", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		require.True(t, own.Made("", nil, p))
		slow.Store(true)
		late := make(chan *corev1.Pod)
		go func() {
			c, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("c", "1"), metav1.CreateOptions{})
			assert.NoError(t, err)
			late <- c
		}()
		synctest.Wait()
		restored.Store(true)
		server.CutWatches()
		time.Sleep(time.Minute)
		require.False(t, own.Made("", nil, p))
		close(hold)
		require.False(t, own.Made("", nil, <-late))
	})
}

// A write that is under way when the server's history goes back belongs to the history in which it began.
func TestAWriteBelongsToTheHistoryInWhichItBegan(t *testing.T) {
	_, config := inMemory(t)
	s := newShown()
	answering(config, func(*http.Request) (*http.Response, error) {
		s.history.Store(8)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText))}, nil
	})
	client := typedClient(t, config)
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	_, err := client.CoreV1().Pods("ns").Update(t.Context(), pod("a", "1"), metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, s.one(t).Before.History)
}

// A handler of a store that shows an object may ask at once.
func TestMadeIsKnownWhenAStoreShowsTheObject(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client, s := typedClient(t, config), newShown()
	var made []bool
	s.takes = func(a ownwrites.Answer) { made = append(made, own.Made("", nil, a.Object.(*corev1.Pod))) }
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, made)
}

// The sources of one informer get an answer one after another, those that read the object first, because it may have
// come from the others. A source of another namespace gets none.
func TestSourcesOfOneInformer(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	client := typedClient(t, config)
	var late atomic.Int32
	var mu sync.Mutex
	var recorded []string
	joined := func(name, selector, namespace string) func() {
		source := podSource(client, namespace)
		source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = selector }
		s := newShown()
		s.late, s.takes = &late, func(ownwrites.Answer) {
			mu.Lock()
			defer mu.Unlock()

			recorded = append(recorded, name)
		}
		return reads(t, source, s, &corev1.Pod{})
	}
	defer joined("one", "n=1", "")()
	defer joined("two", "n=2", "")()
	defer joined("elsewhere", "n=2", "other")()
	p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "2"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "one"}, recorded)
	p.Labels["n"] = "1"
	_, err = client.CoreV1().Pods("ns").Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "one", "one", "two"}, recorded)
}
