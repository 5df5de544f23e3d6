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

	state state
	pin   pin
	// start is the context of the pin: of the first Start after it or, while the pin is held, of the
	// latest Start before. It is nil if there is none, or the run for the pin is over.
	start        context.Context
	users        int
	reuseNothing bool // the next run reads all objects again and trusts none in the store

	// The fields of the last run:
	cancel     context.CancelFunc
	hasStopped chan struct{} // closed when the run could not begin, or has stopped, and after the next one has begun if there is one
	failed     error         // the reason why the run could not begin, or has ended by itself; nil otherwise

	// dropTimer drops the informer after the retention time; nil while the informer is used.
	dropTimer *time.Timer
}

// pin says whether somebody has requested an informer through an accessor, For or ForResource, and
// whether it has had the Start that a pin is due.
//
//	          requested   Start     RestartInformer, and its context has ended         its run has exited
//	unpinned  due
//	due                   started   due, held under the latest Start if there is one
//	started                         due, held under the latest Start if there is one   exited
//	exited                started   due, held under the latest Start if there is one
//
// While a pin is due, it keeps no informer running, unless the informer is or was leased: then it is
// held (table.hold).
type pin uint8

const (
	unpinned pin = iota
	due          // the next Start runs the informer
	started      // a Start has run it; its context is the pin's
	exited       // a user's function has ended that run; the next Start runs the informer again
)

// ran reports whether an informer was requested and runs, or has had the run for its pin.
func (e *entry) ran() bool {
	halted := e.state == halting || e.state == halted
	return !halted && (e.pin == started || e.pin == exited || e.pin == due && e.state.inRun())
}

// unused reports whether an informer is kept only in case somebody acquires it again.
func (e *entry) unused() bool { return e.pin == unpinned && e.users == 0 && !e.state.inRun() }

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
	storage    informer.Storage
	indexes    []indexer.Index[any]
	shard      shard.Assignment // nil: everything
	knows      known
	configured *informer.Options[any] // set by Configure; nil if not configured
}

// build makes an informer of a Go type.
func build(goType reflect.Type, sources []reflector.Source, s settings) informer.Shared {
	var o informer.Options[any]
	if s.configured != nil {
		o = *s.configured
	}
	if reflect.ValueOf(o.Decoding).IsZero() {
		o.Decoding = s.decoding
	}
	if o.Storage == (informer.Storage{}) && !object.IsSecrets(s.resource) { // a packed store may keep bytes of what was deleted
		o.Storage = s.storage
	}
	if o.Shard == nil {
		o.Shard = s.shard
	}
	o.Shard = s.knows.of(o.Shard)
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

// merged returns the indexes of a type's own options, and those of the factory with other names.
func merged(own, all []indexer.Index[any]) []indexer.Index[any] {
	merged := slices.Clone(own)
	for _, ix := range all {
		if !slices.ContainsFunc(own, func(o indexer.Index[any]) bool { return o.Name == ix.Name }) {
			merged = append(merged, ix)
		}
	}
	return merged
}

// newEntry returns the entry of an informer, whether this module made it or a user's constructor.
func newEntry(i cache.SharedIndexInformer, k kind, s Scope) *entry {
	e := &entry{shared: i, kind: k, scope: s}
	if ours, ok := informer.SharedOf(i); ok {
		e.begin = func(ctx context.Context, o informer.RunOptions) error {
			_, err := ours.Start(ctx, o)
			return err
		}
	} else {
		e.begin = e.beginExternal
	}
	return e
}

// retire makes an informer of this module refuse handlers that would wait for a run: none follows Shutdown.
func (e *entry) retire() {
	if ours, ok := informer.SharedOf(e.shared); ok {
		if r, ok := ours.(interface{ Retire() }); ok { // not a program's own type around one
			r.Retire()
		}
	}
}

// beginExternal runs an informer of another module, such as client-go's.
func (e *entry) beginExternal(ctx context.Context, o informer.RunOptions) error {
	go func() {
		e.shared.RunWithContext(ctx)
		o.Stopped(nil)
		o.Returned()
	}()
	return nil
}
