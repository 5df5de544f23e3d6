package cluster

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unique returns the i-th of the pods that share nothing. It has the structure of [Cluster.Pod]'s
// result, but each string, map key, amount and time is unique. Some values are invalid, but a
// kube-apiserver does not validate the objects in etcd.
func (m *Cluster) Unique(i int) *corev1.Pod {
	pod := m.Pod(i)
	kind, namespace := pod.TypeMeta, pod.Namespace
	newChance(m.seed, "unique", i).scramble(reflect.ValueOf(pod).Elem())
	pod.TypeMeta, pod.Namespace = kind, namespace
	pod.Name = strings.ToLower(pod.Name) + "-" + suffix(i) // valid, and different for each i
	return pod
}

// scramble replaces the strings, map keys, amounts and times in a value. It keeps their format and
// length. Plain numbers and booleans, such as ports, do not change.
func (c chance) scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(c.like(v.String()))
	case reflect.Pointer:
		c.scramblePointer(v)
	case reflect.Slice:
		for i := range v.Len() {
			c.scramble(v.Index(i))
		}
	case reflect.Map:
		c.scrambleMap(v)
	case reflect.Struct:
		c.scrambleStruct(v)
	}
}

// scramblePointer also replaces numbers, because a store could share equal numbers behind pointers.
func (c chance) scramblePointer(v reflect.Value) {
	switch {
	case v.IsNil():
	case v.Elem().CanInt():
		v.Elem().SetInt(int64(c.Int32N(1 << 30)))
	default:
		c.scramble(v.Elem())
	}
}

func (c chance) scrambleStruct(v reflect.Value) {
	switch of := v.Addr().Interface().(type) {
	case *metav1.Time:
		*of = c.day(c.IntN(300))
	case *resource.Quantity:
		*of = *resource.NewMilliQuantity(c.Int64N(1<<40), resource.DecimalSI)
	case *metav1.FieldsV1:
		*of = *metav1.NewFieldsV1(c.likeFields(of.GetRawString()))
	default:
		for i := range v.NumField() {
			c.scramble(v.Field(i))
		}
	}
}

// scrambleMap visits the keys in sorted order, because the order of a map is different in each run.
func (c chance) scrambleMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	made := reflect.MakeMap(v.Type())
	for _, key := range keys {
		newKey, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		newKey.SetString(c.like(key.String()))
		value.Set(v.MapIndex(key))
		c.scramble(value)
		made.SetMapIndex(newKey, value)
	}
	v.Set(made)
}

// like returns a random string of the same length, but of at least eight characters, so that no string
// occurs twice.
func (c chance) like(text string) string {
	if text == "" {
		return ""
	}
	return c.text(letters+hexDigits, max(len(text), 8))
}

var fieldName = regexp.MustCompile(`f:[^"\\]+|\\"[^"\\]+\\":\\"[^"\\]+\\"`)

// likeFields returns a FieldsV1 with the same structure and other names.
func (c chance) likeFields(fields string) string {
	return fieldName.ReplaceAllStringFunc(fields, func(name string) string {
		if strings.HasPrefix(name, "f:") {
			return "f:" + c.like(name[2:])
		}
		key, value, _ := strings.Cut(name, `:`)
		return `\"` + c.like(key[2:len(key)-2]) + `\":\"` + c.like(value[2:len(value)-2]) + `\"`
	})
}
