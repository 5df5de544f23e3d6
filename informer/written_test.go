package informer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D35: WaitWritten takes some seconds after a write that could not be shown, also if the watch brings
// nothing: whether a field selector selects the pod, the answer does not tell.
func TestContract_D35_WaitWrittenOfAQuietResource(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		require.NoError(t, k.server.StartInMemory())
		config := k.server.ClientConfig()
		config.Wrap(reflector.NewOwnWrites().Wire)
		client := kubernetes.NewForConfigOrDie(config)
		onNode := reflector.Tweak(reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods")),
			func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName=node-1" })
		i := informer.New(onNode, informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitSynced(t.Context()))
		_, err := client.CoreV1().Pods("default").Create(t.Context(), podIn("default", "elsewhere"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, i.Status().OwnWrites.Waiting)
		began := time.Now()
		require.NoError(t, i.WaitWritten(t.Context()))
		require.LessOrEqual(t, time.Since(began), 8*time.Second)
	})
}
