package engine

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/lister"
)

// The methods in this file give package informer access to the parts of a Core.

// Name returns the informer's name in messages.
func (c *Core) Name() string { return c.options.Name }

// Resync returns the resync period of the options.
func (c *Core) Resync() time.Duration { return c.options.Resync }

// HandlerName returns the option HandlerName, which names handlers that client-go's API adds.
func (c *Core) HandlerName() string { return c.options.HandlerName }

// Objects returns the type of the objects.
func (c *Core) Objects() ObjectType { return c.objects }

// Writer returns the store.
func (c *Core) Writer() *indexer.Writer { return c.writer }

// Lister returns a lister over the store.
func (c *Core) Lister() lister.Lister[any] { return c.lister }

// Synced returns a channel that is closed once the store is complete.
func (c *Core) Synced() <-chan struct{} { return c.synced }

// Stopped returns a channel that is closed once the informer has stopped. Handlers may still be busy.
func (c *Core) Stopped() <-chan struct{} { return c.stopped }

// IsStopped reports whether the channel of Stopped is closed.
func (c *Core) IsStopped() bool { return closed(c.stopped) }

// Registrations returns the registrations of all handlers.
func (c *Core) Registrations() []*delivery.Registration { return c.processor.All() }

// Quarantined returns the quarantined objects whose errors are kept, the oldest first.
func (c *Core) Quarantined() []QuarantinedObject { return c.allQuarantined.all() }

// DecodeTimes returns the number of timed objects since the inspection started, and the time that they took
// to decode.
func (c *Core) DecodeTimes() (sampled uint64, took time.Duration) {
	return c.decodeTimes.sampled.Load(), time.Duration(c.decodeTimes.took.Load())
}

// Observe passes an event to the observer, or to the log.
func (c *Core) Observe(e Event) { c.observe(e) }

// Misuse records an error in the constructor's arguments, unless there is one already.
func (c *Core) Misuse(err error) {
	if c.misuse == nil {
		c.misuse = err
	}
}

// LogTo sets the logger, which takes precedence over that of Run's context. It is called before anything
// else.
func (c *Core) LogTo(logger klog.Logger) {
	c.ownLogger = &logger
	c.logTo(context.Background())
}

// Connect sets the function that handles events before they are logged. The function returns true for an
// event that it has reported. Connect is called before anything else.
func (c *Core) Connect(report func(Event) (reported bool)) { c.hooks.report = report }

// Measure sets the metrics of the processLoop; nil for none. It is called in BeforeRun, or before anything
// else.
func (c *Core) Measure(m LoopMetrics) { c.hooks.metrics = m }

// Frozen returns the store at one moment, and the sources and versions that it was read from.
func (c *Core) Frozen() (f audit.Frozen) {
	share := c.share.Load()
	f.Foreign = func(m metav1.Object) bool { return share != nil && !share.Has(m.GetNamespace(), m.GetUID()) }
	c.writer.Freeze(func(tx *indexer.Tx) {
		stored := tx.Snapshot()
		f.Objects = stored.All()
		for i, source := range c.sources {
			f.Sources = append(f.Sources, audit.Source{Version: c.reached.publishedVersion(uint16(i)), List: source.list}) //nolint:gosec // at most maxSources
			for fenced := range c.states[i].fences.All() {
				f.Pending = append(f.Pending, fenced.Key)
			}
		}
	})
	return f
}
