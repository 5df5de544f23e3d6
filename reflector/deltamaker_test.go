package reflector

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/tidemark-k8s/tidemark/internal/fields"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// thing returns its metadata by an accessor.
type thing struct {
	metav1.TypeMeta
	meta metav1.ObjectMeta
}

func (t *thing) GetObjectMeta() metav1.Object   { return &t.meta }
func (t *thing) DeepCopyObject() runtime.Object { return t }

func TestDecodeReadsMetadataOnce(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7"}
	key := indexer.Key{Namespace: "ns", Name: "a"}

	pod := &corev1.Pod{ObjectMeta: meta}
	var d deltafifo.Delta
	err := newDeltaMaker(ofType[*corev1.Pod](Options{})).fromWatch(&d, deltafifo.Deleted, pod)
	require.NoError(t, err)
	require.Equal(t, deltafifo.Delta{Op: deltafifo.Deleted, Key: key, UID: "u", Version: "7", Object: pod}, d)

	it := &thing{meta: meta}
	var e deltafifo.Delta
	err = newDeltaMaker(ofType[any](Options{})).fromObject(&e, deltafifo.Added, it)
	require.NoError(t, err)
	require.Equal(t, deltafifo.Delta{Op: deltafifo.Added, Key: key, UID: "u", Version: "7", Object: it}, e)
}

// B61: objects of another type in a watch are left out. B51: in a list they are not, as long as the
// sink accepts them.
func TestContract_B61_WrongTypes(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	widget := schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Widget"}
	table := schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1beta1", Kind: "Table"}
	untyped := func(k schema.GroupVersionKind) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k)
		u.SetName("a")
		return u
	}
	pods, widgets := Options{Type: reflect.TypeFor[*corev1.Pod]()}, Options{Expect: widget}
	for name, test := range map[string]struct {
		decode func(deltafifo.Op, runtime.Object) error
		obj    runtime.Object
		want   error
	}{
		"a pod is a pod":                     {reads[*corev1.Pod](Options{}), pod, nil},
		"a node is no pod":                   {reads[*corev1.Pod](Options{}), &corev1.Node{}, ErrUnexpected},
		"nothing is no pod":                  {reads[*corev1.Pod](Options{}), nil, ErrUnexpected},
		"any takes all":                      {reads[any](Options{}), pod, nil},
		"any but nothing":                    {reads[any](Options{}), nil, ErrUnexpected},
		"any but what has no metadata":       {reads[any](Options{}), &metav1.Status{}, ErrUnexpected},
		"any, to be a pod":                   {reads[any](pods), pod, nil},
		"any, to be a pod, is a node":        {reads[any](pods), &corev1.Node{}, ErrUnexpected},
		"any, to be a widget":                {reads[any](widgets), untyped(widget), nil},
		"any, to be a widget, is untyped":    {reads[any](widgets), untyped(widget.GroupVersion().WithKind("Gadget")), ErrUnexpected},
		"any is a table":                     {reads[any](Options{}), untyped(table), wire.ErrTable},
		"untyped takes all kinds":            {reads[*unstructured.Unstructured](Options{}), untyped(widget), nil},
		"untyped, to be a widget":            {reads[*unstructured.Unstructured](widgets), untyped(widget), nil},
		"untyped, to be a widget of old":     {reads[*unstructured.Unstructured](widgets), untyped(schema.GroupVersionKind{Group: "g", Version: "v1alpha1", Kind: "Widget"}), ErrUnexpected},
		"untyped is a table":                 {reads[*unstructured.Unstructured](Options{}), untyped(table), wire.ErrTable},
		"a table of some other group":        {reads[*unstructured.Unstructured](Options{}), untyped(widget.GroupVersion().WithKind("Table")), nil},
		"untyped is a pod":                   {reads[*unstructured.Unstructured](Options{}), pod, ErrUnexpected},
		"metav1.Object takes what has names": {reads[metav1.Object](Options{}), pod, nil},
		"a list is not checked for its type": {lists[any](pods), &corev1.Node{}, nil},
		"a list is not checked for its kind": {lists[any](widgets), untyped(table), nil},
		"a list must fit T":                  {lists[*corev1.Pod](Options{}), &corev1.Node{}, ErrUnexpected},
	} {
		err := test.decode(deltafifo.Added, test.obj)
		if test.want == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, test.want, name)
	}

	err := reads[*corev1.Pod](Options{})(deltafifo.Modified, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	require.EqualError(t, err, "modified event of n: unexpected object or event: a *v1.Node instead of a *v1.Pod")
}

// ofType returns options of a sink that takes objects of one type only.
func ofType[T any](o Options) Options {
	if t := reflect.TypeFor[T](); o.Type == nil && t.Kind() == reflect.Pointer {
		o.Type = t
	}
	o.Check = func(obj runtime.Object) error {
		if _, ok := obj.(T); !ok {
			return fmt.Errorf("a %T instead of a %v", obj, reflect.TypeFor[T]())
		}
		return nil
	}
	return o
}

func podOf(d deltafifo.Delta) *corev1.Pod { return d.Object.(*corev1.Pod) }

func reads[T any](o Options) func(deltafifo.Op, runtime.Object) error {
	return func(op deltafifo.Op, obj runtime.Object) error {
		err := newDeltaMaker(ofType[T](o)).fromWatch(new(deltafifo.Delta), op, obj)
		return err
	}
}

func lists[T any](o Options) func(deltafifo.Op, runtime.Object) error {
	return func(op deltafifo.Op, obj runtime.Object) error {
		err := newDeltaMaker(ofType[T](o)).fromObject(new(deltafifo.Delta), op, obj)
		return err
	}
}

// Fields are dropped from a copy: others may have the object of a client, too.
func TestWhatAClientHasDecodedIsNotChanged(t *testing.T) {
	drop, err := fields.Parse("metadata.labels")
	require.NoError(t, err)
	pod := somePod("a", "1")
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "a"}}}}
	for _, obj := range []runtime.Object{pod, u} {
		before := obj.DeepCopyObject()
		cut := deltaMaker{drop: drop}.cut(obj).(metav1.Object)
		require.Empty(t, cut.GetLabels())
		require.Equal(t, before, obj)
	}
}
