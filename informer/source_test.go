package informer

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// script is kit.Script as a reflector.Source.
type script struct{ kit.Script }

func newScript(version string, pods ...*corev1.Pod) *script {
	s := &script{}
	s.Set(version, pods...)
	return s
}

func (*script) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

func (s *script) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(ctx, o)
}

func (s *script) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(ctx, o)
}
