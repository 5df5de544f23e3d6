package informertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newHosted returns a pod on a node, with its own grace period.
func newHosted(name string, period int64) *corev1.Pod {
	p := newPod("a", name)
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "n1", &period
	return p
}

// remove deletes a pod as a client does.
func (m *model) remove(t *testing.T, name string, at time.Time, period *int64) apiObject {
	t.Helper()
	w := writing{view: viewMain, now: metav1.Time{Time: at}}
	obj, _, err := m.delete(pods, "a", name, w, metav1.DeleteOptions{GracePeriodSeconds: period})
	require.NoError(t, err)
	m.check()
	return obj
}

// The deletionTimestamp is when the grace period ends.
func TestGracePeriods(t *testing.T) {
	for _, row := range []struct {
		name                 string
		own                  int64
		asked, again         *int64
		after                time.Duration // between the two deletions
		first, second        time.Duration // the deletionTimestamps, from the first deletion on
		firstLeft, secondHas int64
	}{
		{"its own", 30, nil, nil, time.Second, 30 * time.Second, 30 * time.Second, 30, 30},
		{"a client's", 30, new(int64(60)), nil, time.Second, 60 * time.Second, 60 * time.Second, 60, 60},
		{"less", 30, nil, new(int64(10)), time.Second, 30 * time.Second, 10 * time.Second, 30, 10},
		{"more", 30, nil, new(int64(31)), time.Second, 30 * time.Second, 30 * time.Second, 30, 30},
		{"over already", 30, nil, new(int64(10)), 20 * time.Second, 30 * time.Second, 20 * time.Second, 30, 1},
		{"below zero", -5, nil, nil, time.Second, time.Second, time.Second, 1, 1},
		{"below zero later", 30, nil, new(int64(-5)), 0, 30 * time.Second, time.Second, 30, 1},
	} {
		s, begin := New(Options{}), time.Unix(1000, 0)
		t.Cleanup(s.Close)
		m := s.model
		m.mustCreate(t, newHosted("p", row.own))
		first := m.remove(t, "p", begin, row.asked)
		require.Equal(t, begin.Add(row.first), first.GetDeletionTimestamp().Time, row.name)
		require.Equal(t, row.firstLeft, *first.GetDeletionGracePeriodSeconds(), row.name)
		second := m.remove(t, "p", begin.Add(row.after), row.again)
		require.Equal(t, begin.Add(row.second), second.GetDeletionTimestamp().Time, row.name)
		require.Equal(t, row.secondHas, *second.GetDeletionGracePeriodSeconds(), row.name)
		require.EqualValues(t, 2, second.GetGeneration(), row.name)
		end := m.remove(t, "p", begin.Add(time.Minute), new(int64(0)))
		require.EqualValues(t, m.version, version(t, end), "the removal's version, after that of the mark")
		_, _, err := m.find(pods, "a", "p")
		require.True(t, apierrors.IsNotFound(err), row.name)
	}
}

func version(t *testing.T, obj apiObject) uint64 {
	t.Helper()
	v, err := parseVersion(obj.GetResourceVersion())
	require.NoError(t, err)
	return v
}

// A pod that a test deletes is removed at once, in one change, whatever its grace period.
func TestATestDeletesWithoutGrace(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		ctx := t.Context()
		require.NoError(t, s.Create(ctx, newHosted("p", 30)))
		w := open(t, s, metav1.ListOptions{ResourceVersion: "2"})
		require.NoError(t, s.Delete(ctx, newPod("a", "p")))
		require.Equal(t, []string{"DELETED a/p@3"}, ready(w))

		// Delete also ends a grace period that a client's deletion has started.
		require.NoError(t, s.Create(ctx, newHosted("q", 30)))
		s.mu.Lock() // the watch reads at the same time
		s.model.remove(t, "q", time.Now(), nil)
		s.mu.Unlock()
		require.NoError(t, s.Delete(ctx, newPod("a", "q")))
		require.True(t, apierrors.IsNotFound(s.Get(ctx, "a", "q", newPod("", ""))))
	})
}

// A namespace that the server's methods create has the finalizers that the test gives it. The test ends its
// deletion, as a namespace controller would.
func TestATestPlaysTheNamespaceController(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig()).CoreV1().Namespaces()
	find := func(name string) (*corev1.Namespace, error) {
		var found corev1.Namespace
		err := s.Get(ctx, "", name, &found)
		return &found, err
	}
	named := func(name string, held ...corev1.FinalizerName) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NamespaceSpec{Finalizers: held}}
	}
	gone := func(name string) {
		t.Helper()
		_, err := find(name)
		require.True(t, apierrors.IsNotFound(err), err)
	}
	require.NoError(t, s.Create(ctx, named("free")))
	require.NoError(t, s.Delete(ctx, named("free")))
	gone("free")

	require.NoError(t, s.Create(ctx, named("deleted")))
	require.NoError(t, client.Delete(ctx, "deleted", metav1.DeleteOptions{}))
	found, err := find("deleted")
	require.NoError(t, err)
	require.Equal(t, corev1.NamespaceTerminating, found.Status.Phase)
	require.NoError(t, s.Delete(ctx, found))
	gone("deleted")

	require.NoError(t, s.Create(ctx, named("held", "example.com/hold")))
	require.NoError(t, s.Delete(ctx, named("held")))
	found, err = find("held")
	require.NoError(t, err)
	require.Equal(t, corev1.NamespaceTerminating, found.Status.Phase)
	require.NoError(t, s.Delete(ctx, found), "it is held still")
	found.Spec.Finalizers = nil
	require.NoError(t, s.Update(ctx, found))
	gone("held")

	made, err := client.Create(ctx, named("made"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []corev1.FinalizerName{corev1.FinalizerKubernetes}, made.Spec.Finalizers)
	require.NoError(t, client.Delete(ctx, "made", metav1.DeleteOptions{}))
	made.ResourceVersion, made.Spec.Finalizers = "", nil
	_, err = client.Finalize(ctx, made, metav1.UpdateOptions{})
	require.NoError(t, err)
	gone("made")
}
