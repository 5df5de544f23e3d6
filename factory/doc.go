// Package factory makes shared informers: one informer for each kind, however many parts of a program ask for
// it.
//
//	f := factory.NewSharedInformerFactory(client, 0)
//	pods, err := factory.For[*corev1.Pod](f)
//	if err != nil {
//		return err
//	}
//	f.StartWithContext(ctx)
//	if err := pods.WaitSynced(ctx); err != nil {
//		return err
//	}
//	pod, err := pods.Lister().Namespace("default").Get("web-1")
//
// [Factory] implements client-go's SharedInformerFactory, with its accessors. [For] returns the same
// informers with types. [Acquire] leases informers, which may have a smaller scope, and run only while they
// are leased. [DynamicFactory] and [MetadataFactory] identify informers by resource, and hold unstructured
// objects or metadata. [NewInformer], [NewFilteredInformer] and [NewInformerWithOptions] make informers that
// are not shared.
//
// The packages factory/informers, factory/dynamicinformer, factory/metadatainformer and
// factory/internalinterfaces have client-go's names and result types, for programs that move from client-go.
// Their constructors call those of this package. New code should use this package, whose constructors return
// concrete types.
//
// # Guarantees
//
//   - A factory has one informer for each type, or for each resource in the dynamic and metadata factories.
//     The first caller creates it, and later callers share it. [For] and the accessors return the same
//     informer.
//   - Only the informers of kinds named in [WithShard] or [Configure] read a share of the objects. All others
//     read everything. The factory does not coordinate replicas, see package shard.
//   - An informer runs once. A requested informer runs from the next Start until the context or channel of
//     that Start ends, as in client-go. Then it stays in the factory, stopped, with its objects. Start may be
//     called any number of times. After Shutdown it does nothing.
//   - An acquired informer runs while there are leases on it, until the context of its Start ends or Shutdown
//     is called. Its Start is the latest whose context has not ended when the informer starts. The last
//     release stops it, and the factory drops it. The next Acquire makes a new one, and does not wait for the
//     old one to stop.
//   - An informer that is both requested and acquired ends with the context of its Start. No release ends it.
//   - Acquire never returns a stopped informer. A request returns one until Start is called again with a
//     context that has not ended. Then the next request makes a new informer.
//   - Handlers added through a lease end with the lease. Other handlers do not.
//   - Shutdown returns when all informers have ended, including those that the factory has dropped. It ends
//     informers that are only leased. The others end with the context or channel given to Start.
//   - An informer that does not run has no goroutine. In a factory, a running informer has one more
//     goroutine, which waits for its Run.
//   - All methods and functions are safe for concurrent use. The factory calls constructors and loggers
//     without its lock, so they may call the factory.
package factory
