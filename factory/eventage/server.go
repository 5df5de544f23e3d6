package eventage

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Lister is a client of one resource, such as client.CoreV1().Pods("").
type Lister[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
}

// CurrentVersion returns a function for [UpperBound] that lists one object, answered by etcd: the
// list's resourceVersion is the current version of the server's whole store.
func CurrentVersion[L runtime.Object](client Lister[L]) func(context.Context) (version string, err error) {
	return func(ctx context.Context) (string, error) {
		list, err := client.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return "", err
		}
		m, err := meta.ListAccessor(list)
		if err != nil {
			return "", err
		}
		return m.GetResourceVersion(), nil
	}
}

// Patcher is a client of one resource in the namespace of a canary, such as
// client.CoreV1().ConfigMaps("monitoring").
type Patcher[T metav1.Object] interface {
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (T, error)
}

// CanaryAnnotation is the annotation that [Touch] sets to the current time, in the format of
// time.RFC3339Nano.
const CanaryAnnotation = "tidemark.dev/canary"

// Touch returns a function for [Canary] that writes the time into an annotation of an object. The
// object must exist: Touch does not create it, since nobody would delete it.
func Touch[T metav1.Object](client Patcher[T], name string) func(context.Context) (version string, err error) {
	return func(ctx context.Context) (string, error) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
			CanaryAnnotation: time.Now().UTC().Format(time.RFC3339Nano),
		}}})
		if err != nil {
			return "", err
		}
		obj, err := client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return "", err
		}
		return obj.GetResourceVersion(), nil
	}
}
