package informertest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestObjectsOfTests(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	ctx := t.Context()

	pod := newPod("a", "p")
	require.NoError(t, s.Create(ctx, pod))
	assert.Equal(t, "2", pod.ResourceVersion, "Create brings the object up to date")
	assert.NotEmpty(t, pod.UID)
	assert.WithinDuration(t, time.Now(), pod.CreationTimestamp.Time, 2*time.Second)

	stale := pod.DeepCopy()
	pod.Labels["x"] = "y"
	require.NoError(t, s.Update(ctx, pod))
	assert.Equal(t, "3", pod.ResourceVersion)
	assert.True(t, apierrors.IsConflict(s.Update(ctx, stale)))
	assert.Equal(t, "2", stale.ResourceVersion, "an object that was refused stays as it is")

	var found corev1.Pod
	require.NoError(t, s.Get(ctx, "a", "p", &found))
	assert.Equal(t, pod, &found)
	found.Labels["mine"] = "yes"
	require.NoError(t, s.Get(ctx, "a", "p", pod))
	assert.NotContains(t, pod.Labels, "mine", "what goes out is a copy")

	require.NoError(t, s.Delete(ctx, stale), "whatever its version")
	assert.True(t, apierrors.IsNotFound(s.Delete(ctx, pod)))
	assert.True(t, apierrors.IsNotFound(s.Get(ctx, "a", "p", pod)))

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "nonsense"}}
	require.NoError(t, s.Create(ctx, node))
	assert.Empty(t, node.Namespace)
	assert.Empty(t, s.Counts())

	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.Create(ended, newPod("a", "q")), context.Canceled)
}

func TestObjectsThatAreNone(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for name, obj := range map[string]apiObject{
		"nil":                nil,
		"nil pod":            (*corev1.Pod)(nil),
		"nil unstructured":   (*unstructured.Unstructured)(nil),
		"of no kind":         &unstructured.Unstructured{},
		"not registered":     &metav1.PartialObjectMetadata{},
		"not of the Go type": &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}},
	} {
		require.ErrorIs(t, s.Create(t.Context(), obj), ErrKind, name)
		require.ErrorIs(t, s.Update(t.Context(), obj), ErrKind, name)
		require.ErrorIs(t, s.Delete(t.Context(), obj), ErrKind, name)
		require.ErrorIs(t, s.Get(t.Context(), "a", "p", obj), ErrKind, name)
	}
}

func TestRegister(t *testing.T) {
	own := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(own))
	rollouts := schema.GroupVersion{Group: "example.com", Version: "v1"}
	own.AddKnownTypeWithName(rollouts.WithKind("Rollout"), &rollout{})
	own.AddKnownTypeWithName(rollouts.WithKind("RolloutList"), &rolloutList{})
	s := New(Options{Scheme: own})
	defer s.Close()

	k := Kind{GVR: rollouts.WithResource("rollouts"), GVK: rollouts.WithKind("Rollout"), Namespaced: true, Generation: true, Status: true, Scale: true}
	require.NoError(t, s.Register(k))
	r := &rollout{appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}}}
	require.NoError(t, s.Create(t.Context(), r))
	assert.EqualValues(t, 1, r.Generation)

	core, batch := corev1.SchemeGroupVersion, batchv1.SchemeGroupVersion
	for name, k := range map[string]Kind{
		"twice":        k,
		"built in":     {GVR: batch.WithResource("jobs"), GVK: batch.WithKind("Work")},
		"kind twice":   {GVR: batch.WithResource("works"), GVK: batch.WithKind("Job")},
		"empty":        {},
		"no kind":      {GVR: rollouts.WithResource("x"), GVK: rollouts.WithKind("")},
		"two versions": {GVR: batch.WithResource("crons"), GVK: appsv1.SchemeGroupVersion.WithKind("CronJob")},
		"no metadata":  {GVR: core.WithResource("x"), GVK: core.WithKind("PodLogOptions")},
		"no list":      {GVR: core.WithResource("x"), GVK: core.WithKind("Binding")},
		"no status":    {GVR: core.WithResource("x"), GVK: core.WithKind("Secret"), Status: true},
		"no replicas":  {GVR: batch.WithResource("x"), GVK: batch.WithKind("Job"), Scale: true},
	} {
		require.ErrorIs(t, s.Register(k), ErrKind, name)
	}
}

// A watch gets the deletions of a kind's objects before it ends.
func TestUnregister(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	gauges := schema.GroupVersion{Group: "example.com", Version: "v1"}
	k := Kind{GVR: gauges.WithResource("gauges"), GVK: gauges.WithKind("Gauge")}
	require.ErrorIs(t, s.Unregister(k.GVR), ErrKind)
	require.NoError(t, s.Register(k))
	gauge := &unstructured.Unstructured{}
	gauge.SetGroupVersionKind(k.GVK)
	gauge.SetName("g")
	require.NoError(t, s.Create(t.Context(), gauge))
	source := s.Source(k.GVR, "")
	w, err := source.Watch(t.Context(), metav1.ListOptions{ResourceVersion: gauge.GetResourceVersion()})
	require.NoError(t, err)
	defer w.Stop()

	require.NoError(t, s.Unregister(k.GVR))
	e := <-w.ResultChan()
	require.Equal(t, watch.Deleted, e.Type)
	require.Equal(t, "g", e.Object.(apiObject).GetName())
	_, open := <-w.ResultChan()
	require.False(t, open, "the watch ends")
	_, err = source.List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.ErrorIs(t, s.Unregister(k.GVR), ErrKind)

	require.NoError(t, s.Register(k))
	list, err := source.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Zero(t, meta.LenList(list))
}

// rollout is a CRD with a Go type.
type rollout struct{ appsv1.Deployment }

func (r *rollout) DeepCopyObject() runtime.Object { return &rollout{*r.DeepCopy()} }

type rolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []rollout `json:"items"`
}

func (l *rolloutList) DeepCopyObject() runtime.Object {
	twin := *l
	twin.Items = make([]rollout, len(l.Items))
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopyObject().(*rollout)
	}
	return &twin
}

// notAList has the name of a list type, but is not one.
type notAList struct{ corev1.Node }

func (n *notAList) DeepCopyObject() runtime.Object { return &notAList{*n.DeepCopy()} }

func TestOwnScheme(t *testing.T) {
	own := runtime.NewScheme()
	own.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Pod{}, &corev1.PodList{}, &corev1.Node{})
	own.AddKnownTypeWithName(corev1.SchemeGroupVersion.WithKind("NodeList"), &notAList{})
	s := New(Options{Scheme: own})
	defer s.Close()
	require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
	require.ErrorIs(t, s.Create(t.Context(), &corev1.Node{}), ErrKind, "its list is not one")
	err := s.Create(t.Context(), &corev1.Secret{})
	require.ErrorIs(t, err, ErrKind)
	require.ErrorContains(t, err, "Options.Scheme lacks the type: no kind is registered for the type v1.Secret")
	assert.Equal(t, []schema.GroupVersion{corev1.SchemeGroupVersion}, keysOf(s.served()))
}

func keysOf[K comparable, V any](m map[K]V) (keys []K) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

func TestBuiltinKindsAreServed(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for _, k := range builtinKinds() {
		resolved, err := resolve(s.scheme, k)
		require.NoError(t, err)
		obj := copyOf(resolved.object)
		obj.SetName("x")
		if k.Namespaced {
			obj.SetNamespace("a")
		}
		require.NoError(t, s.Create(t.Context(), obj), k.GVK.Kind)
		list, err := s.Source(k.GVR, "").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.IsType(t, resolved.list, list)
	}
}

// Delete respects finalizers, like a client's delete request.
func TestServerDeleteWaitsForFinalizers(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		p := newPod("a", "p")
		p.Finalizers = []string{"example.com/hold"}
		require.NoError(t, s.Create(t.Context(), p))
		time.Sleep(time.Hour)
		require.NoError(t, s.Delete(t.Context(), p))
		require.NoError(t, s.Get(t.Context(), "a", "p", p))
		require.NotNil(t, p.DeletionTimestamp)
		assert.Equal(t, p.CreationTimestamp.Add(time.Hour), p.DeletionTimestamp.Time)

		version := p.ResourceVersion
		require.NoError(t, s.Delete(t.Context(), p))
		require.NoError(t, s.Get(t.Context(), "a", "p", p))
		assert.Equal(t, version, p.ResourceVersion, "once more changes nothing")

		p.Finalizers = nil
		require.NoError(t, s.Update(t.Context(), p))
		require.True(t, apierrors.IsNotFound(s.Get(t.Context(), "a", "p", p)))
	})
}
