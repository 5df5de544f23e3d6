package informer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// sourceOf returns a source with a test's lists and watches, which does not stream.
func sourceOf(s kit.Source) reflector.Source {
	return reflector.Source{List: s.List, Watch: s.Watch, Streams: reflector.StreamingUnsupported}
}

// lateOf returns sourceOf in the form for JoinShared.
func lateOf(s kit.Source) []func() (reflector.Source, error) {
	return []func() (reflector.Source, error){func() (reflector.Source, error) { return sourceOf(s), nil }}
}

// script is kit.Script as a kit.Source.
type script struct{ kit.Script }

func newScript(version string, pods ...*corev1.Pod) *script {
	s := &script{}
	s.Set(version, pods...)
	return s
}

func (s *script) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(ctx, o)
}

func (s *script) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(ctx, o)
}

// Listers name the resource of the source, unless the options name another one.
func TestListersNameTheResourceOfTheSource(t *testing.T) {
	source := sourceOf(silentSource{})
	source.Resource = corev1.SchemeGroupVersion.WithResource("pods")
	for want, o := range map[string]Options[*corev1.Pod]{
		`pods "a" not found`:   {},
		`beasts "a" not found`: {Resource: schema.GroupResource{Resource: "beasts"}},
	} {
		_, err := New(source, o).Lister().Namespace("default").Get("a")
		require.EqualError(t, err, want)
	}
}
