package factory

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// member is one informer of a factory, whatever its type.
type member struct {
	shared cache.SharedIndexInformer
	// start runs it in the background, again after it has stopped if it is one
	// of ours.
	start func(context.Context) (wait func(), err error)
	// stopped returns a channel that is closed when it has stopped; of ours only.
	stopped func() <-chan struct{}
	started bool // once the factory has started it; guarded by the registry's mu
}

// settings are what the options of a factory come to for one informer.
type settings struct {
	resource   schema.GroupResource
	resync     time.Duration
	transform  cache.TransformFunc
	decoding   reflector.Decoding
	configured *informer.Options[any] // of Configure, or nil
}

// build makes an informer of a Go type.
func build(goType reflect.Type, sources []reflector.Source, s settings) *member {
	o := informer.Options[any]{Decoding: s.decoding}
	if s.configured != nil {
		o = *s.configured
	}
	if o.Name == "" {
		o.Name = s.resource.String()
	}
	if o.Resource.Empty() {
		o.Resource = s.resource
	}
	if o.Resync == 0 {
		o.Resync = s.resync
	}
	i := informer.JoinShared(sources, goType, o)
	m := &member{shared: i, start: i.Start, stopped: i.Done}
	if s.transform != nil && o.Transform == nil {
		_ = m.shared.SetTransform(s.transform) // it has not started
	}
	return m
}

// foreign is a member that a caller's constructor made.
func foreign(i cache.SharedIndexInformer) *member {
	return &member{shared: i, start: func(ctx context.Context) (func(), error) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			i.RunWithContext(ctx)
		}()
		return func() { <-ended }, nil
	}}
}
