package main

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lonePod is the pod of a number among those that share nothing: of the form of
// siblingPod's, but no text, key, amount or time of it is another pod's.
func lonePod(i int) *corev1.Pod {
	pod := siblingPod(i).DeepCopy()
	estrange(reflect.ValueOf(pod).Elem(), i)
	return pod
}

// estrange puts a number into all that a value is made of, but for what fits
// into a word and is no pointer's.
func estrange(v reflect.Value, i int) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			v.SetString(fmt.Sprintf("%06x%s", i, v.String()))
		}
	case reflect.Pointer:
		switch {
		case v.IsNil():
		case v.Elem().CanInt():
			v.Elem().SetInt(int64(workloads + i))
		default:
			estrange(v.Elem(), i)
		}
	case reflect.Slice:
		for j := range v.Len() {
			estrange(v.Index(j), i)
		}
	case reflect.Map:
		estrangeMap(v, i)
	case reflect.Struct:
		estrangeStruct(v, i)
	}
}

func estrangeStruct(v reflect.Value, i int) {
	switch of := v.Addr().Interface().(type) {
	case *metav1.Time:
		*of = moment(i)
	case *resource.Quantity:
		*of = *resource.NewMilliQuantity(int64(1000*workloads+i), resource.DecimalSI)
	case *metav1.FieldsV1:
		*of = *metav1.NewFieldsV1(fmt.Sprintf(`{"f:%06x":{},`, i) + of.GetRawString()[1:])
	default:
		for j := range v.NumField() {
			estrange(v.Field(j), i)
		}
	}
}

func estrangeMap(v reflect.Value, i int) {
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		estrange(value, i)
		own := reflect.New(v.Type().Key()).Elem()
		own.SetString(fmt.Sprintf("%06x%s", i, key.String()))
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(own, value)
	}
}
