package protodecode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// commons visits the values that two objects share, and collects those that they must not share. It
// examines only the Go values and does not know the plans.
type commons struct {
	shared   int
	problems []string
}

func (c *commons) problem(path, format string, args ...any) {
	c.problems = append(c.problems, path+": "+fmt.Sprintf(format, args...))
}

// position describes the place of a value.
type position struct {
	path    string
	meta    bool // inside an ObjectMeta
	written bool // a field that programs write into
}

func (p position) down(name string) position {
	p.path += "." + name
	return p
}

// compare visits the same place in two objects.
func (c *commons) compare(a, b reflect.Value, at position) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if same(a, b) {
			c.found(a, at)
			return
		}
	case reflect.Struct:
		c.compareStructs(a, b, at)
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			c.compare(a.Elem(), b.Elem(), at)
		}
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			c.compare(a.Index(i), b.Index(i), at.down(fmt.Sprint(i)))
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			if v := b.MapIndex(k); v.IsValid() {
				c.compare(a.MapIndex(k), v, at.down(k.String()))
			}
		}
	}
}

func (c *commons) compareStructs(a, b reflect.Value, at position) {
	at.meta = at.meta || a.Type() == gotype.ObjectMeta
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || a.Type() == gotype.Time || a.Type() == gotype.MicroTime {
			continue
		}
		below := at.down(f.Name)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below.written = written(name)
		c.compare(a.Field(i), b.Field(i), below)
	}
}

func written(name string) bool {
	return name == "data" || name == "stringData" || name == "binaryData" || name == "nodeSelector"
}

// same reports whether two values refer to the same memory.
func same(a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() || a.UnsafePointer() != b.UnsafePointer() {
		return false
	}
	switch a.Kind() {
	case reflect.Slice:
		return a.Cap() > 0
	case reflect.Pointer:
		return a.Type().Elem().Size() > 0
	}
	return true
}

// found checks a shared value.
func (c *commons) found(v reflect.Value, at position) {
	c.shared++
	if at.meta && v.Type() != reflect.TypeFor[*metav1.FieldsV1]() {
		c.problem(at.path, "a map or slice of metadata is shared")
	}
	if at.written {
		c.problem(at.path, "programs write into it")
	}
	c.within(v, at.path, v.Kind() != reflect.Map)
}

// within visits the parts of a shared value. addressed says whether methods with pointer receivers can
// be called on the value.
func (c *commons) within(v reflect.Value, path string, addressed bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.within(v.Elem(), path, true)
		}
	case reflect.Slice:
		if v.Len() != v.Cap() {
			c.problem(path, "a shared slice has spare capacity")
		}
		for i := range v.Len() {
			c.within(v.Index(i), path, true)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			c.within(v.MapIndex(k), path+"."+k.String(), false)
		}
	case reflect.Struct:
		c.withinStruct(v, path, addressed)
	}
}

func (c *commons) withinStruct(v reflect.Value, path string, addressed bool) {
	switch q := v.Interface().(type) {
	case metav1.Time, metav1.MicroTime:
		return
	case metav1.ObjectMeta:
		c.problem(path, "metadata is shared")
	case resource.Quantity:
		if addressed {
			c.problem(path, "AsDec would write into a shared quantity")
		}
		if _, small := gotype.PartsOf(&q); !small {
			c.problem(path, "copies of a big quantity share their number")
		}
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if written(name) && v.Field(i).Kind() == reflect.Map && v.Field(i).Len() > 0 {
			c.problem(path+"."+f.Name, "programs write into it")
		}
		if f.IsExported() {
			c.within(v.Field(i), path+"."+f.Name, addressed)
		}
	}
}

// decodeTwice decodes the same bytes until every shareable value has been stored. It returns two of the
// objects.
func decodeTwice(tb testing.TB, kind reflect.Type, data []byte, o Options) (a, b any) {
	tb.Helper()
	d := New(kind, o)
	for range 3 { // first remembered, then stored, then found
		var err error
		a = b
		b, err = d.Decode(data)
		require.NoError(tb, err)
	}
	return a, b
}

// inSomeTable runs a test with new tables until the expected values are shared, because in a small table
// two values may compete for a slot.
func inSomeTable(t *testing.T, test func(o Options) (shared bool)) {
	t.Helper()
	for range 30 {
		if test(Options{Table: share.New(0), Values: true}) {
			return
		}
	}
	require.Fail(t, "the expected values were never shared")
}

func encode(tb testing.TB, object any) []byte {
	tb.Helper()
	data, err := object.(marshaler).Marshal()
	require.NoError(tb, err)
	return data
}

func inCommon(a, b any) *commons {
	c := &commons{}
	c.compare(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), position{})
	return c
}

func TestShared_WhatProgramsWriteIntoIsNot(t *testing.T) {
	total := 0
	for seed, kind := range kinds() {
		for round := range uint64(6) {
			object := reflect.New(kind)
			newFiller(uint64(seed)+round).fill(object.Elem(), 9)
			c := inCommon(decodeTwice(t, kind, encode(t, object.Interface()), Options{Table: share.New(0), Values: true}))
			require.Empty(t, c.problems, kind)
			total += c.shared
		}
	}
	require.Greater(t, total, 1000, "the test is meaningless unless much is shared")
}

func TestShared_NothingUnlessAsked(t *testing.T) {
	data := encode(t, siblingPod(1))
	for name, o := range map[string]Options{"no table": {Values: true}, "strings only": {Table: share.New(0)}} {
		t.Run(name, func(t *testing.T) {
			require.Zero(t, inCommon(decodeTwice(t, podType, data, o)).shared)
		})
	}
}

func TestShared_ValuesOfSiblings(t *testing.T) {
	inSomeTable(t, func(o Options) bool {
		d := New(podType, o)
		var pods []*corev1.Pod
		for i := range 3 {
			p, err := d.Decode(encode(t, kit.RunningPod("w", i)))
			require.NoError(t, err)
			pods = append(pods, p.(*corev1.Pod))
		}
		a, b := pods[1], pods[2]
		require.NotSame(t, &a.Spec.Containers[0], &b.Spec.Containers[0], "their mounts differ")
		limits := func(p *corev1.Pod) uintptr { return reflect.ValueOf(p.Spec.Containers[0].Resources.Limits).Pointer() }
		return &a.Spec.Containers[0].Env[0] == &b.Spec.Containers[0].Env[0] && a.Spec.Affinity == b.Spec.Affinity &&
			a.Spec.Volumes[0].ConfigMap == b.Spec.Volumes[0].ConfigMap && // inside a message that is copied from the shared one
			a.ManagedFields[0].FieldsV1 == b.ManagedFields[0].FieldsV1 && limits(a) == limits(b)
	})
}

// A value that contains a private part is not shared, but its neighbors are.
func TestShared_WhatHoldsPrivatePartsIsNot(t *testing.T) {
	template := corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}}
	claim := &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: template}}
	reference := &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: resource.MustParse("1")}}
	limit := resource.MustParse("1Gi")
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: claim}},
			{Name: "memory", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}},
			{Name: "shared", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
		},
		Containers: []corev1.Container{{
			Env:       []corev1.EnvVar{{Name: "CPU", ValueFrom: reference}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("123456789012345678901234567890")}, Requests: corev1.ResourceList{"cpu": resource.MustParse("8Gi")}},
		}},
		NodeSelector: map[string]string{"disk": "ssd"},
	}}
	inSomeTable(t, func(o Options) bool {
		first, second := decodeTwice(t, podType, encode(t, pod), o)
		require.Empty(t, inCommon(first, second).problems)
		a, b := first.(*corev1.Pod).Spec, second.(*corev1.Pod).Spec
		require.NotSame(t, a.Volumes[0].Ephemeral, b.Volumes[0].Ephemeral)
		require.NotSame(t, a.Volumes[1].EmptyDir, b.Volumes[1].EmptyDir)
		require.NotSame(t, a.Containers[0].Env[0].ValueFrom, b.Containers[0].Env[0].ValueFrom)
		delete(a.Containers[0].Resources.Limits, "cpu")
		require.NotEmpty(t, b.Containers[0].Resources.Limits, "a big number is not shared")
		delete(a.Containers[0].Resources.Requests, "cpu")
		return len(b.Containers[0].Resources.Requests) == 0 && // a small number is shared
			a.Volumes[2].Secret == b.Volumes[2].Secret && a.Containers[0].Env[1].ValueFrom == b.Containers[0].Env[1].ValueFrom
	})
}

// The metadata of a template is not shared either.
func TestShared_TemplatesHaveTheirOwnLabels(t *testing.T) {
	meta := metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, Finalizers: []string{"e"}}
	set := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
		Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Template:             corev1.PodTemplateSpec{ObjectMeta: meta, Spec: siblingPod(1).Spec},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: meta}},
	}}
	inSomeTable(t, func(o Options) bool {
		first, second := decodeTwice(t, reflect.TypeFor[appsv1.StatefulSet](), encode(t, set), o)
		require.Empty(t, inCommon(first, second).problems)
		a, b := first.(*appsv1.StatefulSet), second.(*appsv1.StatefulSet)
		a.Labels["x"], a.Spec.Template.Labels["x"], a.Spec.VolumeClaimTemplates[0].Annotations["x"] = "y", "y", "y"
		require.NotContains(t, b.Labels, "x")
		require.NotContains(t, b.Spec.Template.Labels, "x")
		require.NotContains(t, b.Spec.VolumeClaimTemplates[0].Annotations, "x")
		return a.Spec.Selector == b.Spec.Selector && &a.Spec.Template.Spec.Containers[0] == &b.Spec.Template.Spec.Containers[0]
	})
}

// A program that appends to a shared slice writes into its own memory.
func TestShared_SlicesHaveNoRoom(t *testing.T) {
	inSomeTable(t, func(o Options) bool {
		first, second := decodeTwice(t, podType, encode(t, siblingPod(1)), o)
		a, b := first.(*corev1.Pod), second.(*corev1.Pod)
		more := append(a.Spec.Tolerations, corev1.Toleration{Key: "mine"})
		require.NotSame(t, &more[0], &b.Spec.Tolerations[0])
		return &a.Spec.Tolerations[0] == &b.Spec.Tolerations[0]
	})
}

// The checks of the tests above can fail.
func TestShared_TheJudgeCanFail(t *testing.T) {
	labels, room := map[string]string{"a": "b"}, make([]string, 1, 2)
	quantity := resource.MustParse("1")
	number := corev1.ResourceList{"cpu": resource.MustParse("123456789012345678901234567890")}
	for name, pod := range map[string]corev1.Pod{
		"a map or slice of metadata is shared":        {ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		"programs write into it":                      {Spec: corev1.PodSpec{NodeSelector: labels}},
		"a shared slice has spare capacity":           {Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: room}}}},
		"AsDec would write into a shared quantity":    {Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &quantity}}}}}},
		"copies of a big quantity share their number": {Spec: corev1.PodSpec{Overhead: number}},
		"metadata is shared":                          {Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}}}}},
	} {
		other := pod
		require.Contains(t, fmt.Sprint(inCommon(&pod, &other).problems), name)
	}
}

// Two kinds of strings do not enter the table: payload, which a transform after the decoding may remove,
// and the strings of Secrets, which must not stay in memory after the Secret is deleted.
func TestDecode_StringsThatStayOutOfTheTable(t *testing.T) {
	data := encode(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a namespace"}, Data: map[string]string{"key": "a value of data"}})
	for name, c := range map[string]struct {
		o          Options
		data, meta bool
	}{
		"values":             {Options{Values: true}, true, true},
		"before a transform": {Options{}, false, true},
		"a Secret":           {Options{Values: true, Secret: true}, false, false},
	} {
		c.o.Table = share.New(0)
		d := New(reflect.TypeFor[corev1.ConfigMap](), c.o)
		a, err := d.Decode(data)
		require.NoError(t, err)
		b, err := d.Decode(data)
		require.NoError(t, err)
		one, two := a.(*corev1.ConfigMap), b.(*corev1.ConfigMap)
		require.Equal(t, c.data, unsafe.StringData(one.Data["key"]) == unsafe.StringData(two.Data["key"]), name)
		require.Equal(t, c.meta, unsafe.StringData(one.Namespace) == unsafe.StringData(two.Namespace), name)
	}
}
