package rig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// SourceOf returns a source with a test's lists and watches, which does not stream.
func SourceOf(s kit.Source) reflector.Source {
	return reflector.Source{List: s.List, Watch: s.Watch, Streams: reflector.StreamingUnsupported}
}

// LateOf returns [SourceOf] in the form that [informer.JoinShared] takes.
func LateOf(s kit.Source) []func() (reflector.Source, error) {
	return []func() (reflector.Source, error){func() (reflector.Source, error) { return SourceOf(s), nil }}
}

// Script is a [kit.Script] with the methods of a [kit.Source].
type Script struct{ kit.Script }

// NewScript returns a script that lists these pods.
func NewScript(version string, pods ...*corev1.Pod) *Script {
	s := &Script{}
	s.Set(version, pods...)
	return s
}

// List answers a list.
func (s *Script) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(ctx, o)
}

// Watch answers a watch with a new [kit.Feed].
func (s *Script) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(ctx, o)
}

// Silent is a source that never answers: the test writes to the sinks itself.
type Silent struct{}

// List waits for the end of the context.
func (Silent) List(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Watch waits for the end of the context.
func (Silent) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
