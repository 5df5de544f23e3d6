package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// This test checks the comparison with fake clientsets in README.md.
func TestComparisonWithFakeClientsets(t *testing.T) {
	s := startServer(t, Options{})
	for who, client := range map[string]kubernetes.Interface{"informertest": newClient(t, s.ClientConfig()), "a fake": fake.NewClientset()} {
		t.Run(who, func(t *testing.T) {
			assert.Equal(t, who == "informertest", identifies(t, client.CoreV1().Pods("f")), "objects get UIDs")
			assert.Equal(t, who == "informertest", conflicts(t, client.CoreV1().Pods("a")), "stale updates are conflicts")
			assert.Equal(t, who == "informertest", makesUpNames(t, client.CoreV1().Pods("b")), "names are made up")
			assert.Equal(t, who == "informertest", holds(t, client.CoreV1().Pods("c")), "finalizers hold")
			assert.Equal(t, who == "informertest", selects(t, client.CoreV1().Pods("d")), "field selectors select")
			assert.Equal(t, who == "informertest", keepsStatus(t, client.CoreV1().Pods("e")), "an update keeps the status")
		})
	}
}

func identifies(t *testing.T, pods typedcorev1.PodInterface) bool {
	p, err := pods.Create(t.Context(), newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	return p.UID != ""
}

func conflicts(t *testing.T, pods typedcorev1.PodInterface) bool {
	p, err := pods.Create(t.Context(), newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	stale := p.DeepCopy()
	p.Labels = map[string]string{"x": "y"}
	_, err = pods.Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = pods.Update(t.Context(), stale, metav1.UpdateOptions{})
	return apierrors.IsConflict(err)
}

func makesUpNames(t *testing.T, pods typedcorev1.PodInterface) bool {
	p, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"}}, metav1.CreateOptions{})
	return err == nil && p.Name != ""
}

func holds(t *testing.T, pods typedcorev1.PodInterface) bool {
	p := newPod("", "p")
	p.Finalizers = []string{"example.com/hold"}
	_, err := pods.Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.Delete(t.Context(), "p", metav1.DeleteOptions{}))
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	return err == nil
}

func selects(t *testing.T, pods typedcorev1.PodInterface) bool {
	_, err := pods.Create(t.Context(), newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	found, err := pods.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=q"})
	require.NoError(t, err)
	return len(found.Items) == 0
}

func keepsStatus(t *testing.T, pods typedcorev1.PodInterface) bool {
	p, err := pods.Create(t.Context(), newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	p.Status.Reason = "x"
	p, err = pods.Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	return p.Status.Reason == ""
}
