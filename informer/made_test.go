package informer_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// hangs is a transport that keeps the answers to updates back until the channel is closed.
type hangs struct {
	http.RoundTripper
	until chan struct{}
}

func (h hangs) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := h.RoundTripper.RoundTrip(r)
	if r.Method == http.MethodPut {
		<-h.until
	}
	return answer, err
}

// asked is an update for which a handler has asked Made.
type asked struct {
	name string
	made bool
	late time.Duration // from the update to the end of Made
}

// updated changes a pod: it gets the time as an annotation.
func updated(p *corev1.Pod) *corev1.Pod {
	p.Annotations = map[string]string{"at": time.Now().Format(time.RFC3339Nano)}
	return p
}

// lateness returns for how long a pod has been updated.
func lateness(t *testing.T, p *corev1.Pod) time.Duration {
	at, err := time.Parse(time.RFC3339Nano, p.Annotations["at"])
	require.NoError(t, err)
	return time.Since(at)
}

// D35: while the answer to a write hangs, a handler that asks Made about it gets the events of other objects
// late by at most 100 ms, once for the write.
func TestContract_D35_AnAnswerThatHangsDelaysOtherEventsOnce(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		own, until := reflector.NewOwnWrites(), make(chan struct{})
		require.NoError(t, k.server.StartInMemory())
		config := k.server.ClientConfig()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hangs{next, until} })
		config.Wrap(own.Wire)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		source := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
		i := informer.New(source, informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()

		var told []asked
		_, err = i.Handle(informer.Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			made := own.Made("", old, now)
			told = append(told, asked{now.Name, made, lateness(t, now)})
		}}, informer.HandlerOptions{})
		require.NoError(t, err)

		before, err := client.CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		written := make(chan *corev1.Pod, 1)
		go func() {
			p, err := client.CoreV1().Pods("default").Update(t.Context(), updated(before.DeepCopy()), metav1.UpdateOptions{})
			require.NoError(t, err)
			written <- p
		}()
		synctest.Wait()
		want := []asked{{"a", false, 100 * time.Millisecond}}
		for n := range 20 { // at 0, 10 ms and so on
			require.NoError(t, k.server.Update(t.Context(), updated(podIn("default", "b"))))
			want = append(want, asked{"b", false, max(0, time.Duration(100-10*n)*time.Millisecond)})
			time.Sleep(10 * time.Millisecond)
		}
		require.NoError(t, k.server.Update(t.Context(), updated(podIn("default", "a"))))
		synctest.Wait()
		require.Equal(t, append(want, asked{"a", false, 0}), told)
		require.Empty(t, written)
		close(until)
		require.True(t, own.Made("", before, <-written), "when the answer has come after all")
	})
}
