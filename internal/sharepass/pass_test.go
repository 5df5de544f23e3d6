package sharepass

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// passed makes equal objects and passes them until the last two share every value that may be shared.
// Values that compete for a slot of the table take several passes.
func passed[T any](build func() *T) (a, b *T) {
	pass := New(share.New(0))
	for range 100 {
		a, b = b, build()
		b = pass.Share(b, b).(*T)
	}
	return a, b
}

func samePointer(t *testing.T, a, b any, same bool, what string) {
	t.Helper()
	assert.Equal(t, same, reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer(), what)
}

func TestPodsShareTheirTemplate(t *testing.T) {
	build := func() *corev1.Pod {
		p := podOf(1)
		p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		return p
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	for what, pair := range map[string][2]any{
		"a slice":   {a.Spec.Containers, b.Spec.Containers},
		"a pointer": {a.Spec.Affinity, b.Spec.Affinity},
		"a scalar":  {a.Spec.Priority, b.Spec.Priority},
		"statuses":  {a.Status.ContainerStatuses, b.Status.ContainerStatuses},
	} {
		samePointer(t, pair[0], pair[1], true, what)
	}
	for what, pair := range map[string][2]any{
		"labels":       {a.Labels, b.Labels},
		"annotations":  {a.Annotations, b.Annotations},
		"owners":       {a.OwnerReferences, b.OwnerReferences},
		"nodeSelector": {a.Spec.NodeSelector, b.Spec.NodeSelector},
	} {
		samePointer(t, pair[0], pair[1], false, what)
	}
}

// The pods of one owner differ in the name of a volume. The values that contain this name belong to each
// pod, and the other values are shared.
func TestPartsOfAnElementAreShared(t *testing.T) {
	i := 0
	first, second := passed(func() *corev1.Pod { i++; return podOf(i * owners) })
	assert.Equal(t, podOf(i*owners), second)
	a, b := first.Spec, second.Spec
	samePointer(t, a.Containers, b.Containers, false, "containers")
	samePointer(t, a.Containers[0].Env, b.Containers[0].Env, true, "env")
	samePointer(t, a.Containers[0].Resources.Requests, b.Containers[0].Resources.Requests, true, "a map")
	samePointer(t, a.Volumes[2].Projected, b.Volumes[2].Projected, true, "a pointer in an element")
}

func TestSharedSlicesHaveNoRoom(t *testing.T) {
	_, b := passed(func() *corev1.Pod {
		p := podOf(1)
		p.Spec.Tolerations = slices.Grow(p.Spec.Tolerations, 10)
		return p
	})
	assert.Equal(t, len(b.Spec.Tolerations), cap(b.Spec.Tolerations))
}

func TestTemplatesKeepTheirMetadata(t *testing.T) {
	build := func() *appsv1.StatefulSet {
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}
		s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim}}}
		s.Spec.Template.Labels = map[string]string{"a": "b"}
		s.Spec.Template.Spec = podOf(1).Spec
		s.Spec.Template.Spec.Volumes = append(s.Spec.Template.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim.Spec}},
		}})
		return s
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	samePointer(t, a.Spec.Template.Labels, b.Spec.Template.Labels, false, "labels of a template")
	samePointer(t, a.Spec.Template.Spec.Containers, b.Spec.Template.Spec.Containers, true, "the containers of a template")
	samePointer(t, a.Spec.VolumeClaimTemplates, b.Spec.VolumeClaimTemplates, false, "a list of objects")
	samePointer(t, a.Spec.VolumeClaimTemplates[0].Spec.AccessModes, b.Spec.VolumeClaimTemplates[0].Spec.AccessModes, true, "a part of one of these objects")
	samePointer(t, a.Spec.VolumeClaimTemplates[0].Labels, b.Spec.VolumeClaimTemplates[0].Labels, false, "labels of one of these objects")
	samePointer(t, a.Spec.Template.Spec.Volumes, b.Spec.Template.Spec.Volumes, false, "a list that contains a template")
}

func TestFieldsV1IsSharedAlone(t *testing.T) {
	build := func() *metav1.PartialObjectMetadata {
		f := &metav1.FieldsV1{}
		f.SetRawBytes([]byte(`{"f:spec":{}}`))
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", FieldsV1: f, Time: ptr(metav1.Unix(1, 0))},
		}}}
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	samePointer(t, a.ManagedFields, b.ManagedFields, false, "managedFields")
	samePointer(t, a.ManagedFields[0].Time, b.ManagedFields[0].Time, false, "a time")
	samePointer(t, a.ManagedFields[0].FieldsV1, b.ManagedFields[0].FieldsV1, true, "fieldsV1")
}

func TestUnstructuredObjectsShare(t *testing.T) {
	build := func() *unstructured.Unstructured {
		ports := []any{map[string]any{"port": int64(80)}}
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{
				"name": "a", "labels": map[string]any{"a": "b"}, "finalizers": []any{"f"},
				"managedFields": []any{map[string]any{"manager": "m", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}},
			},
			"spec": map[string]any{"ports": ports, "template": map[string]any{"metadata": map[string]any{"labels": map[string]any{}}, "spec": map[string]any{"x": ports}},
				"nodeSelector": map[string]any{"disk": "ssd"}, "list": []any{[]any{"a"}, []any{"b"}}},
			"data":   map[string]any{"k": map[string]any{"a": "b"}},
			"status": map[string]any{"phase": "Ready"},
		}}
	}
	a, b := passed(build)
	assert.Equal(t, build(), b)
	at := func(u *unstructured.Unstructured, path ...string) any {
		v, ok, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		require.True(t, ok && err == nil)
		return v
	}
	fieldsV1 := func(u *unstructured.Unstructured) any {
		return at(u, "metadata", "managedFields").([]any)[0].(map[string]any)["fieldsV1"]
	}
	for _, path := range []string{"status", "spec.ports", "spec.list", "spec.template.spec"} {
		samePointer(t, at(a, strings.Split(path, ".")...), at(b, strings.Split(path, ".")...), true, path)
	}
	samePointer(t, fieldsV1(a), fieldsV1(b), true, "fieldsV1")
	for _, path := range []string{"metadata", "metadata.labels", "metadata.finalizers", "metadata.managedFields", "spec", "spec.template", "spec.template.metadata", "spec.nodeSelector", "data", "data.k"} {
		samePointer(t, at(a, strings.Split(path, ".")...), at(b, strings.Split(path, ".")...), false, path)
	}
}

func TestRootMapIsNotShared(t *testing.T) {
	a, b := passed(func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"a": "b"}}}
	})
	samePointer(t, a.Object, b.Object, false, "the root")
	samePointer(t, a.Object["spec"], b.Object["spec"], true, "the values below the root")
}

// The order of a map's entries does not matter.
func TestOrderOfMapsDoesNotCount(t *testing.T) {
	a, b := passed(func() *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{}}}
		for i := range 20 {
			p.Spec.Overhead[corev1.ResourceName(fmt.Sprint(i))] = resource.MustParse("1")
		}
		return p
	})
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "typed")
	c, d := passed(func() *unstructured.Unstructured {
		spec := map[string]any{}
		for i := range 20 {
			spec[fmt.Sprint(i)] = int64(i)
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	})
	samePointer(t, c.Object["spec"], d.Object["spec"], true, "untyped")
}

// The sites of unstructured values are made from keys of objects, so their number must be limited.
func TestUnstructuredKeysMakeABoundedNumberOfSites(t *testing.T) {
	pass := New(share.New(0))
	for i := range 3 * mostSpots {
		u := &unstructured.Unstructured{Object: map[string]any{fmt.Sprint(i): map[string]any{}}}
		pass.Share(u, u)
	}
	assert.LessOrEqual(t, len(spots.byKey), mostSpots)
	assert.LessOrEqual(t, len(pass.walk.spots), mostSpots)
}

func TestOnlyTheVeryPointerIsTouched(t *testing.T) {
	pass := New(share.New(0))
	for range 3 {
		p := podOf(1)
		pass.Share(p, p)
	}
	other, list := podOf(1), &corev1.PodList{Items: []corev1.Pod{*podOf(1)}}
	env := other.Spec.Containers[0].Env
	var none *corev1.Pod
	for _, pair := range [][2]any{{podOf(1), other}, {nil, other}, {other, *other}, {other, nil}, {other, list}, {none, none}, {[]int{1}, []int{1}}, {ptr(1), ptr(1)}} {
		got := pass.Share(pair[0], pair[1])
		require.Equal(t, pair[1], got)
		if reflect.ValueOf(got).Kind() == reflect.Pointer {
			samePointer(t, pair[1], got, true, "it is no copy")
		}
	}
	number := ptr(1)
	require.Same(t, number, pass.Share(number, number))
	require.Same(t, other, New(nil).Share(other, other))
	samePointer(t, env, other.Spec.Containers[0].Env, true, "nothing was replaced")
}

func TestTimesOfOtherPlacesAreNotShared(t *testing.T) {
	for name, test := range map[string]struct {
		at     time.Time
		shared bool
	}{
		"local":     {time.Unix(1, 0), true},
		"UTC":       {time.Unix(1, 0).UTC(), true},
		"zero":      {time.Time{}, true},
		"a zone":    {time.Unix(1, 0).In(time.FixedZone("X", 60)), false},
		"monotonic": {time.Now(), false},
	} {
		a, b := passed(func() *corev1.Pod {
			return &corev1.Pod{Status: corev1.PodStatus{StartTime: &metav1.Time{Time: test.at}}}
		})
		samePointer(t, a.Status.StartTime, b.Status.StartTime, test.shared, name)
	}
}

func quantities(q resource.Quantity) func() *corev1.Pod {
	return func() *corev1.Pod {
		size := q.DeepCopy()
		return &corev1.Pod{Spec: corev1.PodSpec{
			Overhead: corev1.ResourceList{"cpu": q.DeepCopy()},
			Volumes:  []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}}},
			Containers: []corev1.Container{{Env: []corev1.EnvVar{{Name: "CPU", ValueFrom: &corev1.EnvVarSource{
				ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: q.DeepCopy()},
			}}}}},
		}}
	}
}

// Methods such as AsDec write into a Quantity that they can address.
func TestQuantitiesAreSharedInMapsOnly(t *testing.T) {
	a, b := passed(quantities(resource.MustParse("250m")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "in a map")
	samePointer(t, a.Spec.Volumes, b.Spec.Volumes, false, "by a pointer")
	samePointer(t, a.Spec.Volumes[0].EmptyDir.SizeLimit, b.Spec.Volumes[0].EmptyDir.SizeLimit, false, "by a pointer")
	samePointer(t, a.Spec.Containers[0].Env[0].ValueFrom, b.Spec.Containers[0].Env[0].ValueFrom, false, "in a struct")

	a, b = passed(quantities(resource.MustParse("0.12345678912")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, false, "a big one")
}

// Methods of Quantities may run concurrently on two objects that share values.
func TestMethodsOfSharedQuantitiesDoNotRace(t *testing.T) {
	a, b := passed(quantities(resource.MustParse("250m")))
	samePointer(t, a.Spec.Overhead, b.Spec.Overhead, true, "a map")
	var wg sync.WaitGroup
	for _, p := range []*corev1.Pod{a, b} {
		wg.Go(func() {
			q := p.Spec.Overhead["cpu"]
			callAll(&q)
			callAll(p.Spec.Volumes[0].EmptyDir.SizeLimit)
			callAll(&p.Spec.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor)
			callAll(p.Spec.Overhead.Cpu())
		})
	}
	wg.Wait()
	got := a.Spec.Overhead["cpu"]
	assert.Zero(t, got.Cmp(resource.MustParse("250m")))
}

// callAll calls every method of a Quantity that takes no arguments or another Quantity.
func callAll(q *resource.Quantity) {
	v, other := reflect.ValueOf(q), reflect.ValueOf(resource.MustParse("0.12345678912"))
	for i := range v.NumMethod() {
		if m := v.Method(i); m.Type().NumIn() == 0 {
			m.Call(nil)
		} else if m.Type().NumIn() == 1 && m.Type().In(0) == other.Type() {
			m.Call([]reflect.Value{other})
		}
	}
}

func TestObjectsOfAllKindsStayEqual(t *testing.T) {
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if typ.Kind() != reflect.Struct {
			continue
		}
		r := rand.New(rand.NewPCG(1, uint64(len(gvk.String()))))
		playTyped(t, typ, 12, r)
		require.False(t, t.Failed(), gvk.String())
	}
}
