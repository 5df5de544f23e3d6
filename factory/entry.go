package factory

import (
	"context"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// entry is one informer of a factory. The table's mu guards the fields that change.
//
// Invariant: an entry in the table is requested, or has users.
type entry struct {
	shared cache.SharedIndexInformer
	kind   kind
	scope  Scope
	drop   func() // removes the entry from the table
	runner

	use
	start context.Context    // the context given to Start under which the informer started; nil before
	end   context.CancelFunc // ends the run; nil before it
}

// runner runs the informer of an entry.
type runner struct {
	// begin runs the informer in the background until ctx ends. wait returns once its goroutines have
	// returned.
	begin      func(ctx context.Context) (wait func() error, err error)
	done       <-chan struct{} // closed when the informer has stopped
	waitSynced func(ctx context.Context) error
}

// newEntry returns the entry of an informer that this module or a caller's constructor made.
func newEntry(i cache.SharedIndexInformer, k kind, s Scope) *entry {
	e := &entry{shared: i, kind: k, scope: s}
	if ours, ok := informer.SharedOf(i); ok {
		e.runner = runner{ours.Start, ours.Done(), ours.WaitSynced}
	} else {
		e.runner = runnerOf(i)
	}
	return e
}

// runnerOf returns the runner of an informer of another module.
func runnerOf(i cache.SharedIndexInformer) runner {
	done := make(chan struct{})
	return runner{
		begin: func(ctx context.Context) (wait func() error, err error) {
			return func() error {
				i.RunWithContext(ctx)
				if i.IsStopped() { // otherwise the caller runs it
					close(done)
				}
				return nil
			}, nil
		},
		done: done,
		waitSynced: func(ctx context.Context) error {
			select {
			case <-i.HasSyncedChecker().Done():
				return nil
			case <-done:
				return informer.ErrStopped
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
	}
}

// state returns the current state of the informer, which may have stopped by itself.
func (e *entry) state() state {
	select {
	case <-e.done:
		return stopped
	default:
	}
	switch {
	case e.start == nil:
		return made
	case e.start.Err() == nil:
		return running
	}
	return stopped
}

// settings are the options of a factory for one informer.
type settings struct {
	resource   schema.GroupResource
	resync     time.Duration
	transform  cache.TransformFunc
	decoding   reflector.Decoding
	storage    informer.Storage
	indexes    []indexer.Index[any]
	shard      shard.Assignment       // nil for everything
	configured *informer.Options[any] // set by Configure; nil if not configured
}

// build makes an informer of a Go type.
func build(goType reflect.Type, sources []func() (reflector.Source, error), s settings) informer.Shared {
	var o informer.Options[any]
	if s.configured != nil {
		o = *s.configured
	}
	if reflect.ValueOf(o.Decoding).IsZero() {
		o.Decoding = s.decoding
	}
	if o.Storage == (informer.Storage{}) && !object.IsSecrets(s.resource) { // a packed store may keep bytes of deleted objects
		o.Storage = s.storage
	}
	if o.Shard == nil {
		o.Shard = s.shard
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
	o.Indexes = merged(o.Indexes, s.indexes)
	i := informer.JoinShared(sources, goType, o)
	if s.transform != nil && o.Transform == nil {
		_ = i.SetTransform(s.transform) // cannot fail: the informer has not started
	}
	return i
}

// merged returns the indexes of a type's own options, and the factory's indexes with other names.
func merged(own, all []indexer.Index[any]) []indexer.Index[any] {
	merged := slices.Clone(own)
	for _, ix := range all {
		if !slices.ContainsFunc(own, func(o indexer.Index[any]) bool { return o.Name == ix.Name }) {
			merged = append(merged, ix)
		}
	}
	return merged
}
