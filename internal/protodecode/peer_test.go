package protodecode

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// besides decodes bytes beside an object of others, and requires what the generated code makes of both. It
// returns the two objects.
func besides(t *testing.T, kind reflect.Type, data, of []byte, drop *fields.Set) (beside, peer any) {
	t.Helper()
	d := New(kind, Options{Drop: drop})
	peer, err := d.Decode(of)
	if err != nil {
		return nil, nil
	}
	theirs, theirErr := guarded(kind, data, drop)
	beside, err = d.DecodeBeside(data, Peer{of, peer})
	require.Equal(t, theirErr == nil, err == nil, "theirs: %v, ours: %v", theirErr, err)
	if err != nil {
		return nil, nil
	}
	requireEqual(t, theirs, beside)
	theirs, err = guarded(kind, of, drop)
	require.NoError(t, err)
	requireEqual(t, theirs, peer)
	return beside, peer
}

// An object of any kind, decoded beside another one, is what its bytes say, and has nothing in common with the
// other but what objects may share.
func TestDecodeBeside(t *testing.T) {
	tier.SkipRaced(t)
	var found int
	for _, kind := range fuzzed {
		for seed := range uint64(60) {
			metBigQuantity.Store(false)
			object := reflect.New(kind)
			newFiller(seed).fill(object.Elem(), 9)
			of := encode(t, object.Interface())
			changed := reflect.New(kind)
			require.NoError(t, changed.Interface().(unmarshaler).Unmarshal(of))
			for n := changed.Elem().NumField(); seed%3 > 0; seed /= 3 {
				newFiller(seed).fill(changed.Elem().Field(int(seed)%n), 9) // it adds to what is there
			}
			beside, peer := besides(t, kind, encode(t, changed.Interface()), of, nil)
			var c commons
			c.compare(reflect.ValueOf(beside).Elem(), reflect.ValueOf(peer).Elem(), position{})
			require.Empty(t, c.problems, "%v", kind)
			found += c.shared
		}
	}
	require.NotZero(t, found)
}

// The old and the new pod of a change of the status have the greater part in common.
func TestDecodeBeside_StatusChange(t *testing.T) {
	metBigQuantity.Store(false) // by another test
	before := siblingPod(1)
	now := before.DeepCopy()
	now.ResourceVersion = "2"
	now.Status.Conditions[0].Status = corev1.ConditionFalse
	now.Status.ContainerStatuses[0].RestartCount++
	beside, peer := besides(t, podType, encode(t, before), encode(t, now), nil)
	a, b := beside.(*corev1.Pod), peer.(*corev1.Pod)
	for what, common := range map[string]bool{
		"resources":   same(reflect.ValueOf(a.Spec.Containers[0].Resources.Limits), reflect.ValueOf(b.Spec.Containers[0].Resources.Limits)),
		"mounts":      &a.Spec.Containers[0].VolumeMounts[0] == &b.Spec.Containers[0].VolumeMounts[0],
		"tolerations": &a.Spec.Tolerations[0] == &b.Spec.Tolerations[0],
		"fields":      a.ManagedFields[0].FieldsV1 == b.ManagedFields[0].FieldsV1,
		"started":     a.Status.ContainerStatuses[0].State.Running == b.Status.ContainerStatuses[0].State.Running,
	} {
		require.True(t, common, what)
	}
	require.NotSame(t, &a.Status.Conditions[0], &b.Status.Conditions[0])

	d := New(podType, Options{})
	data, of := encode(t, before), Peer{encode(t, now), peer}
	alone := testing.AllocsPerRun(20, func() { _, _ = d.Decode(data) })
	together := testing.AllocsPerRun(20, func() { _, _ = d.DecodeBeside(data, of) })
	require.Less(t, together, alone/3)
	require.Zero(t, d.Fallbacks())
}

// A peer of which one field occurs twice has a value that is not that of either place.
func TestDecodeBeside_FieldTwice(t *testing.T) {
	kind := reflect.TypeFor[corev1.ConfigMap]()
	one := encode(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"a": "1"}})
	other := encode(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "b"}, Data: map[string]string{"b": "2"}})
	besides(t, kind, one, append(one[:len(one):len(one)], other...), nil)
	besides(t, kind, append(one[:len(one):len(one)], other...), one, nil)

	user, group := int64(1), int64(2)
	one = encode(t, &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}}})
	other = encode(t, &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsGroup: &group}}})
	besides(t, podType, other, append(one[:len(one):len(one)], other...), nil)
}

// What is no object of the decoder's type is no peer.
func TestDecodeBeside_AnotherType(t *testing.T) {
	data := encode(t, siblingPod(1))
	for _, object := range []any{nil, 1, &corev1.Node{}, corev1.Pod{}, (*corev1.Pod)(nil)} {
		got, err := New(podType, Options{}).DecodeBeside(data, Peer{data, object})
		require.NoError(t, err)
		theirs, err := generatedPod(data)
		require.NoError(t, err)
		requireEqual(t, theirs, got)
	}
}

// FuzzDecodeBeside compares what is decoded beside another object with the generated code's, for any bytes.
func FuzzDecodeBeside(f *testing.F) {
	for i, t := range fuzzed {
		for seed := range uint64(4) {
			one, other := reflect.New(t), reflect.New(t)
			newFiller(seed).fill(one.Elem(), 9)
			newFiller(seed+1).fill(other.Elem(), 9)
			f.Add(uint8(i), encode(f, one.Interface()), encode(f, one.Interface()))
			f.Add(uint8(i), encode(f, one.Interface()), encode(f, other.Interface()))
		}
	}
	f.Add(uint8(0), encode(f, siblingPod(1)), encode(f, siblingPod(2)))
	f.Fuzz(func(t *testing.T, i uint8, data, of []byte) {
		besides(t, fuzzed[int(i)%len(fuzzed)], data, of, nil)
	})
}
