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

// Inside gives the tests of package informer access to a Core. The tests take the place of its goroutines:
// they provide the deltas, and inspect the store. No other code uses Inside.
type Inside struct{ *Core }

// Begin moves the informer to running, without starting the processLoop and the reflectors.
func (i Inside) Begin(ctx context.Context) error { return i.begin(ctx) }

// Finish moves the informer to stopped, after the context of Begin has ended.
func (i Inside) Finish() {
	i.finish()
	i.run.Handlers.Wait()
}

// Sink returns a new sink of a source.
func (i Inside) Sink(source uint16) *Sink { return newSink(i.Core, source) }

// Reflect connects a sink with the reflector of a source, without running it.
func (i Inside) Reflect(from reflector.Source, sink *Sink) { i.reflector(from, sink) }

// Wait waits until no other goroutine prepares objects for the sinks.
func (i Inside) Wait(sinks ...*Sink) { (&reading{core: i.Core, sinks: sinks}).wait() }

// Drain returns the queued deltas. It waits for one if there are none.
func (i Inside) Drain(ctx context.Context) ([]deltafifo.Delta, error) { return i.queue.Drain(ctx) }

// Queued returns the number of queued deltas.
func (i Inside) Queued() int { return i.queue.Len() }

// Drop drops drained deltas and queued ones, as the end of a run does.
func (i Inside) Drop(batch []deltafifo.Delta) {
	i.batch = batch
	i.dropQueued()
}

// Apply applies deltas.
func (i Inside) Apply(batch []deltafifo.Delta) {
	for len(batch) > 0 {
		batch = i.ApplySome(batch)
	}
}

// ApplySome applies the first deltas of a batch, as many as a write section takes, and returns the rest.
func (i Inside) ApplySome(batch []deltafifo.Delta) (rest []deltafifo.Delta) {
	i.batch = batch
	i.applySome()
	return i.batch
}

// Pack packs the objects of a batch.
func (i Inside) Pack(batch []deltafifo.Delta) { i.Sink(0).packBatch(batch) }

// ObserveWith sets the observer. If it is nil, events go to the context's logger.
func (i Inside) ObserveWith(ctx context.Context, observe func(Event)) {
	i.options.Observe = observe
	i.logTo(ctx)
}

// Read sets the share that the informer reads.
func (i Inside) Read(share shard.Set) { i.share.Store(&share) }

// Reached reports whether source 0 has reached a version.
func (i Inside) Reached(version string) (bool, error) { return i.hasReached(point{version: version}) }

// Packer returns what packs a source's objects from their bytes in a sink, or nil if they are not packed
// there.
func Packer(in *Sink, objects any, d pack.Decoder) pack.Taker { return in.packer(objects, d) }

// Identity returns the server's identity of a stored object.
func (i Inside) Identity(key indexer.Key, stored any) object.Identity { return i.identity(key, stored) }

// Identities returns the number of identities that are kept because the transform has hidden them.
func (i Inside) Identities() (n int) {
	for s := range i.states {
		n += len(i.states[s].objects.identities)
	}
	return n
}

// ExitError returns the error that has ended the run, or nil.
func (i Inside) ExitError() error { return i.exitError() }

// Causes returns the number of remembered reasons for pinning objects.
func (i Inside) Causes() int { return len(i.packing.causes) }

// Lose reports a packed object that cannot be decoded.
func (i Inside) Lose(o *pack.Object, err error) { i.packing.lost(o, err) }

// Staging reports whether source 0 has a replacement in progress.
func (i Inside) Staging() bool { return i.states[0].staging != nil }

// Fences returns the number of fences of source 0.
func (i Inside) Fences() int { return i.states[0].fences.Len() }

// IsQuarantined reports whether the object of a key is quarantined.
func (i Inside) IsQuarantined(key indexer.Key) bool { return i.allQuarantined.holds(key) }

// IsInspected reports whether the informer is inspected.
func (i Inside) IsInspected() bool { return i.inspection.Load() != nil }

// Weigh measures the memory of the informer.
func (i Inside) Weigh(m *measure.Inspection) { m.Weight.Weigh(i.writer, i.IsSynced(), weighed(i)) }

// IsMeasured reports whether the processLoop is measured.
func (i Inside) IsMeasured() bool { return i.hooks.metrics != nil }

// Compare compares the stored objects with their copies, as the detector does periodically.
func (i Inside) Compare() { i.detector.compare() }

// Kind returns what the packed objects have in common.
func (i Inside) Kind() *pack.Kind { return i.packing.kind }

// Decoding sets the decoder of the objects that the informer has encoded.
func (i Inside) Decoding(d pack.Decoder) { i.packing.encoded.set.Store(&decodingOf{Decoder: d}) }

// FromObject returns the stored form of an object.
func (i Inside) FromObject(obj any) any { return i.packing.fromObject(obj) }

// ForHandler decodes a stored object for a handler.
func (i Inside) ForHandler(stored any) any { return i.packing.forHandler(stored) }

// DecodingFor wraps a receiver in one that decodes its objects.
func (i Inside) DecodingFor(to Receiver) Receiver { return i.withDecoding(to) }

// Untold returns the errors of the packed store that have not been reported yet.
func (i Inside) Untold() (all []*StorageError) {
	for {
		select {
		case e := <-i.packing.errors:
			all = append(all, e)
		default:
			return all
		}
	}
}

// Unwrap returns the packed object that a store holds.
func Unwrap(stored any) *pack.Object { return unwrap(stored) }
