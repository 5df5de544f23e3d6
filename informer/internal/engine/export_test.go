package engine

import (
	"context"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// The methods and functions in this file show the parts of a Core to the tests. The tests take the place of its
// goroutines: they provide the deltas, and inspect the store.

// Begin moves the informer to running, without starting the processLoop and the reflectors.
func (c *Core) Begin(ctx context.Context) error { return c.begin(ctx) }

// Finish moves the informer to stopped, after the context of Begin has ended.
func (c *Core) Finish() {
	c.finish()
	c.run.Handlers.Wait()
}

// Sink returns a new sink of a source.
func (c *Core) Sink(source uint16) *Sink { return newSink(c, source) }

// Reflect connects a sink with the reflector of a source, without running it.
func (c *Core) Reflect(from reflector.Source, sink *Sink) { c.reflector(from, sink) }

// Wait waits until no other goroutine prepares objects for the sinks.
func (c *Core) Wait(sinks ...*Sink) { (&reading{core: c, sinks: sinks}).wait() }

// Drain returns the queued deltas. It waits for one if there are none.
func (c *Core) Drain(ctx context.Context) ([]deltafifo.Delta, error) { return c.queue.Drain(ctx) }

// Queued returns the number of queued deltas.
func (c *Core) Queued() int { return c.queue.Len() }

// Drop drops drained deltas and queued ones, as the end of a run does.
func (c *Core) Drop(batch []deltafifo.Delta) {
	c.batch = batch
	c.dropQueued()
}

// Apply applies deltas.
func (c *Core) Apply(batch []deltafifo.Delta) {
	for len(batch) > 0 {
		batch = c.ApplySome(batch)
	}
}

// ApplySome applies the first deltas of a batch, as many as a write section takes, and returns the rest.
func (c *Core) ApplySome(batch []deltafifo.Delta) (rest []deltafifo.Delta) {
	c.batch = batch
	c.applySome()
	return c.batch
}

// Pack packs the objects of a batch.
func (c *Core) Pack(batch []deltafifo.Delta) { c.Sink(0).packBatch(batch) }

// ObserveWith sets the observer. If it is nil, events go to the context's logger.
func (c *Core) ObserveWith(ctx context.Context, observe func(Event)) {
	c.options.Observe = observe
	c.logTo(ctx)
}

// Read sets the share that the informer reads.
func (c *Core) Read(share shard.Set) { c.share.Store(&share) }

// Reached reports whether source 0 has reached a version.
func (c *Core) Reached(version string) (bool, error) { return c.hasReached(point{version: version}) }

// Packer returns what packs a source's objects from their bytes in a sink, or nil if they are not packed
// there.
func Packer(in *Sink, objects any, d pack.Decoder) pack.Taker { return in.packer(objects, d) }

// Identity returns the server's identity of a stored object.
func (c *Core) Identity(key indexer.Key, stored any) object.Identity { return c.identity(key, stored) }

// Identities returns the number of identities that are kept because stored objects do not show them.
func (c *Core) Identities() (n int) {
	for s := range c.states {
		n += len(c.states[s].objects.identities)
	}
	return n
}

// ExitError returns the error that has ended the run, or nil.
func (c *Core) ExitError() error { return c.exitError() }

// Causes returns the number of remembered reasons for pinning objects.
func (c *Core) Causes() int { return len(c.packing.causes) }

// Lose reports a packed object that cannot be decoded.
func (c *Core) Lose(o *pack.Object, err error) { c.packing.lost(o, err) }

// Staging reports whether source 0 has a replacement in progress.
func (c *Core) Staging() bool { return c.states[0].staging != nil }

// Fences returns the number of fences of source 0.
func (c *Core) Fences() int { return c.states[0].fences.Len() }

// IsInspected reports whether the informer is inspected.
func (c *Core) IsInspected() bool { return c.inspection.Load() != nil }

// Weigh measures the memory of the informer.
func (c *Core) Weigh(m *measure.Inspection) { m.Weight.Weigh(c.writer, c.IsSynced(), weighed{c}) }

// Compare compares the stored objects with their copies, as the detector does periodically.
func (c *Core) Compare() { c.detector.compare() }

// Kind returns what the packed objects have in common.
func (c *Core) Kind() *pack.Kind { return c.packing.kind }

// Decoding sets the decoder of the objects that the informer has encoded.
func (c *Core) Decoding(d pack.Decoder) { c.packing.encoded.set.Store(&decodingOf{Decoder: d}) }

// FromObject returns the stored form of an object.
func (c *Core) FromObject(obj any) any { return c.packing.fromObject(obj) }

// ForHandler decodes a stored object for a handler.
func (c *Core) ForHandler(stored any) any { return c.packing.forHandler(stored) }

// Untold returns the errors of the packed store that have not been reported yet.
func (c *Core) Untold() (all []*StorageError) {
	for {
		select {
		case e := <-c.packing.errors:
			all = append(all, e)
		default:
			return all
		}
	}
}

// Unwrap returns the packed object that a store holds.
func Unwrap(stored any) *pack.Object { return unwrap(stored) }
