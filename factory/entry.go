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

// entry is one informer of a factory, whatever its type. What changes is guarded by the
// table's mu.
type entry struct {
	shared cache.SharedIndexInformer
	kind   kind // what is known of its type
	scope  Scope
	// begin runs it in the background, again after it has stopped if it is one of this
	// module.
	begin func(ctx context.Context, o informer.RunOptions) error

	// drop takes it out of the table, with all that it holds.
	drop func()

	state  state
	pinned bool
	users  int
	anew   bool // the next run is to trust nothing of what is stored

	// Of the last run:
	ctx        context.Context
	cancel     context.CancelFunc
	leased     bool          // it lasts until all contexts have ended, and has not stopped
	hasStopped chan struct{} // closed when the run has stopped, and another one has begun if it is to

	// forgetting drops the informer in a while, since nobody uses it; nil where somebody does.
	forgetting *time.Timer
}

// unused tells whether an informer is only there for who may acquire it again.
func (e *entry) unused() bool {
	return !e.pinned && e.users == 0 && (e.state == created || e.state == stopped || e.state == halted || e.state == refused)
}

// keep stops the timer that drops it in a while, if there is one.
func (e *entry) keep() {
	if e.forgetting != nil {
		e.forgetting.Stop()
		e.forgetting = nil
	}
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
func build(goType reflect.Type, sources []reflector.Source, s settings) informer.Shared {
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
	if s.transform != nil && o.Transform == nil {
		_ = i.SetTransform(s.transform) // it has not started
	}
	return i
}

// newEntry returns the entry of an informer, whoever made it.
func newEntry(i cache.SharedIndexInformer, k kind, s Scope) *entry {
	e := &entry{shared: i, kind: k, scope: s}
	if ours, ok := informer.SharedOf(i); ok {
		e.begin = ours.Begin
	} else {
		e.begin = e.beginForeign
	}
	return e
}

// beginForeign runs an informer that is not of this module.
func (e *entry) beginForeign(ctx context.Context, o informer.RunOptions) error {
	go func() {
		e.shared.RunWithContext(ctx)
		o.Stopped()
		o.Returned()
	}()
	return nil
}
