package informer_test

import (
	"fmt"
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

// updated changes a pod: it gets the time as an annotation.
func updated(p *corev1.Pod) *corev1.Pod {
	p.Annotations = map[string]string{"at": time.Now().Format(time.RFC3339Nano)}
	return p
}

// D36: Made does not wait. While the answer to a write hangs, it is false, and no event is late.
func TestContract_D36_MadeDoesNotWaitForTheAnswer(t *testing.T) {
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

		began := time.Now()
		var recorded []string
		_, err = i.Handle(informer.Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
			recorded = append(recorded, fmt.Sprint(now.Name, " ", own.Made("", old, now), " after ", time.Since(began)))
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
		require.NoError(t, k.server.Update(t.Context(), updated(podIn("default", "b"))))
		synctest.Wait()
		require.Equal(t, []string{"a false after 0s", "b false after 0s"}, recorded)
		require.Empty(t, written)
		close(until)
		after := <-written
		require.True(t, own.Made("", before, after), "when the answer has come")
		require.False(t, own.Made("", nil, after), "it was no creation")
	})
}
