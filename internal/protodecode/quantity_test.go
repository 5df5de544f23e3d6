package protodecode

import (
	"encoding/json"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// readQuantity calls the methods with which programs read a quantity. It reads a quantity in a map
// through a copy, as programs have to.
func readQuantity(q *resource.Quantity) {
	huge := resource.MustParse("123456789012345678901234567890")
	_, _, _ = q.String(), q.Cmp(huge), q.Cmp(resource.MustParse("1"))
	_, _, _ = q.AsApproximateFloat64(), q.AsFloat64Slow(), q.AsDec()
	_, _, _ = q.IsZero(), q.Sign(), q.Value()
	_, _, _ = q.MilliValue(), q.ScaledValue(resource.Micro), q.Equal(huge)
	_, _ = q.AsInt64()
	_, _ = q.AsScale(resource.Milli)
	_, _ = q.AsCanonicalBytes(nil)
	_, _ = q.CanonicalizeBytes(nil)
	_, _, _ = q.CmpInt64(5), q.DeepCopy(), q.ToUnstructured()
	_, _ = json.Marshal(q)
	_, _, _ = q.Size(), q.OpenAPISchemaType(), q.ToDec()
	_, _ = q.MarshalCBOR()
	_, _ = q.Marshal()
}

// readTime calls the methods with which programs read a time.
func readTime(t *metav1.Time) {
	_, _, _ = t.IsZero(), t.Before(&metav1.Time{}), t.Equal(&metav1.Time{})
	_, _, _ = t.Rfc3339Copy(), t.Unix(), t.Format(time.RFC3339)
	_, _, _ = t.UTC(), t.Local(), t.DeepCopy()
	_, _ = json.Marshal(t)
	_, _ = t.Marshal()
}

func readPort(p *intstr.IntOrString) {
	_, _, _ = p.String(), p.IntValue(), p.Size()
	_, _ = json.Marshal(p)
	_, _ = p.Marshal()
}

// readAll reads all quantities, times and ports of an object.
func readAll(v reflect.Value) {
	if v.CanAddr() {
		switch p := v.Addr().Interface().(type) {
		case *resource.Quantity:
			readQuantity(p)
			return
		case *metav1.Time:
			readTime(p)
			return
		case *intstr.IntOrString:
			readPort(p)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			readAll(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			readAll(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(k))
			readAll(e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				readAll(v.Field(i))
			}
		}
	}
}

// Two programs read two objects that share values. The race detector notices getters that write into one
// of the values.
func TestShared_GettersWriteNothing(t *testing.T) {
	for _, object := range []any{podOfQuantities(), autoscaler()} {
		first, second := decodeTwice(t, reflect.TypeOf(object).Elem(), encode(t, object), Options{Table: share.New(0), Values: true})
		require.NotZero(t, inCommon(first, second).shared)
		var all sync.WaitGroup
		for _, o := range []any{first, second} {
			all.Go(func() { readAll(reflect.ValueOf(o).Elem()) })
		}
		all.Wait()
	}
}

func podOfQuantities() *corev1.Pod {
	pod := siblingPod(1)
	limits := corev1.ResourceList{}
	for _, text := range quantityTexts {
		limits[corev1.ResourceName("example.com/"+text)] = resource.MustParse(text)
		limit := resource.MustParse(text)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: text, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}})
		pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: text, ValueFrom: &corev1.EnvVarSource{
			ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: limit.DeepCopy()}}})
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": limit.DeepCopy()}}})
	}
	pod.Spec.Containers[1].Resources.Limits = limits
	return pod
}

func autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	value := resource.MustParse("8Gi")
	return &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		Metrics:  []autoscalingv2.MetricSpec{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "memory", Target: autoscalingv2.MetricTarget{AverageValue: &value}}}},
		Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{Tolerance: &value, Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 1}}}},
	}}
}
