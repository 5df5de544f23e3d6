package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Tweak returns a source that passes the options of every request through
// tweak, for instance to set a selector (client-go's TweakListOptionsFunc). It
// returns nil for a nil source, and the source itself for a nil tweak.
func Tweak(source Source, tweak func(*metav1.ListOptions)) Source {
	if source == nil || tweak == nil {
		return source
	}
	return &described{tweaked{source, tweak}, func() capabilities {
		c := capabilitiesOf(source)
		if ask := c.raw.ask; ask != nil {
			c.raw.ask = func(ctx context.Context, o metav1.ListOptions, list bool) (answer, error) {
				tweak(&o)
				return ask(ctx, o, list)
			}
		}
		return c
	}}
}

type tweaked struct {
	source Source
	tweak  func(*metav1.ListOptions)
}

func (t tweaked) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	t.tweak(&o)
	return t.source.List(ctx, o)
}

func (t tweaked) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	t.tweak(&o)
	return t.source.Watch(ctx, o)
}
