package protodecode

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// fuzzed are types that have every kind of field between them.
var fuzzed = []reflect.Type{
	podType,
	reflect.TypeFor[corev1.ConfigMap](),
	reflect.TypeFor[corev1.Secret](),
	reflect.TypeFor[corev1.Service](),
	reflect.TypeFor[corev1.Event](),
	reflect.TypeFor[appsv1.StatefulSet](),
	reflect.TypeFor[appsv1.ControllerRevision](),
	reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](),
	reflect.TypeFor[networkingv1.NetworkPolicy](),
	reflect.TypeFor[authorizationv1.SubjectAccessReview](),
	reflect.TypeFor[admissionregistrationv1.ValidatingWebhookConfiguration](),
	reflect.TypeFor[resourcev1.ResourceSlice](),
	reflect.TypeFor[deep](),
}

// FuzzDecode compares the decoder with the generated code on arbitrary bytes. It decodes each input
// several times with one table, so that values are stored and found. At the end it compares all objects
// again.
func FuzzDecode(f *testing.F) {
	for i, t := range fuzzed {
		for seed := range uint64(4) {
			object := reflect.New(t)
			newFiller(seed).fill(object.Elem(), 9)
			data, err := object.Interface().(marshaler).Marshal()
			require.NoError(f, err)
			f.Add(uint8(i), data)
		}
	}
	pod, err := siblingPod(1).Marshal()
	require.NoError(f, err)
	f.Add(uint8(0), pod)
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		kind := fuzzed[int(i)%len(fuzzed)]
		agree(t, kind, data, Options{})
		agree(t, kind, data, Options{Table: share.New(0), Values: true})
	})
}

// agree decodes bytes three times and compares the objects with those of the generated code.
func agree(t *testing.T, kind reflect.Type, data []byte, o Options) {
	t.Helper()
	d, all := New(kind, o), []twins{}
	for range 3 {
		theirs, theirErr := guarded(kind, data, o.Drop)
		ours, err := d.Decode(data)
		require.Equal(t, theirErr == nil, err == nil, "theirs: %v, ours: %v", theirErr, err)
		if err != nil {
			return
		}
		all = append(all, twins{ours, theirs})
	}
	for _, both := range all {
		requireEqual(t, both.theirs, both.ours)
	}
}

// guarded calls the generated code, and returns a panic as an error.
func guarded(kind reflect.Type, data []byte, drop *fields.Set) (object any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = ErrPanic
		}
	}()
	return generated(kind, data, drop)
}
