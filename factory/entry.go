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

// entry is one informer of a factory, of any type. The table's mu guards the fields that change.
type entry struct {
	shared cache.SharedIndexInformer
	kind   kind
	scope  Scope
	// begin runs the informer in the background. An informer of this module can be run again
	// after it has stopped.
	begin func(ctx context.Context, o informer.RunOptions) error

	// drop removes the entry from the table.
	drop func()

	state  state
	pinned bool
	users  int
	anew   bool // the next run reads all objects again and trusts none in the store

	// The fields of the last run:
	ctx        context.Context
	cancel     context.CancelFunc
	underAll   bool          // it lasts until all contexts given to Start have ended, and has not stopped
	hasStopped chan struct{} // closed when the run has stopped, and after the next one has begun if there is one

	// dropTimer drops the informer after the retention time; nil while the informer is used.
	dropTimer *time.Timer
}

// unused reports whether an informer is kept only in case somebody acquires it again.
func (e *entry) unused() bool {
	return !e.pinned && e.users == 0 && (e.state == created || e.state == stopped || e.state == halted || e.state == refused)
}

// cancelDrop stops dropTimer, if it is set.
func (e *entry) cancelDrop() {
	if e.dropTimer != nil {
		e.dropTimer.Stop()
		e.dropTimer = nil
	}
}

// settings are the options of a factory for one informer.
type settings struct {
	resource   schema.GroupResource
	resync     time.Duration
	transform  cache.TransformFunc
	decoding   reflector.Decoding
	configured *informer.Options[any] // set by Configure; nil if not configured
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
		_ = i.SetTransform(s.transform) // cannot fail: the informer has not started
	}
	return i
}

// newEntry returns the entry of an informer, whether this module made it or a user's constructor.
func newEntry(i cache.SharedIndexInformer, k kind, s Scope) *entry {
	e := &entry{shared: i, kind: k, scope: s}
	if ours, ok := informer.SharedOf(i); ok {
		e.begin = ours.Begin
	} else {
		e.begin = e.beginExternal
	}
	return e
}

// beginExternal runs an informer of another module, such as client-go's.
func (e *entry) beginExternal(ctx context.Context, o informer.RunOptions) error {
	go func() {
		e.shared.RunWithContext(ctx)
		o.Stopped()
		o.Returned()
	}()
	return nil
}
