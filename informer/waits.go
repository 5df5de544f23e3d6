package informer

import "context"

// WaitSynced waits until the store is complete. The section Waits of the package documentation describes the
// errors.
func (i *Informer[T]) WaitSynced(ctx context.Context) error { return i.core.WaitSynced(ctx) }

// WaitFor waits until the store shows an object as a write returned it, or a newer version, so that a caller
// reads its own writes. The object's event shows the write. If the informer does not read the object, the
// next event or bookmark does. With several sources, WaitFor waits only for those that read the object's
// namespace (see [reflector.Source]), and for none of them once the object itself has arrived.
//
// It returns [ErrVersion] if the object's version cannot be compared with the store's, [ErrQuarantined] if
// this version or a later one could not be decoded or transformed, [ErrType] for an object without metadata,
// and [ErrNoSource] if no source reads the object's namespace.
func (i *Informer[T]) WaitFor(ctx context.Context, obj T) error { return i.core.WaitFor(ctx, obj) }

// WaitFresh waits until a read of the store is as new as a read from the server at the moment of the call.
//
// It first waits until all sources have been read and are watched. Then it asks each source for its newest
// version ([reflector.Newest]), and waits until the store has reached it. Fakes, and sources whose lists have
// no version, skip this second step. Concurrent calls share a question.
//
// On a quiet source, only a bookmark shows that the store is current, and servers send one a minute. So after
// a second the informer reopens the watch for three seconds, because a server sends a bookmark before it ends
// a watch. If a selector or a share hides the last change of the source, the server sends no bookmark until
// something else is written to the cluster, and WaitFresh takes a few seconds more.
//
// To wait for a certain write, use [Informer.WaitFor], which sends no request.
//
// WaitFresh returns [ErrVersion] if the source's versions do not compare. If a source has versions but sends
// no bookmarks, WaitFresh waits for its next event.
func (i *Informer[T]) WaitFresh(ctx context.Context) error { return i.core.WaitFresh(ctx) }

// WaitDelivered waits until the store holds every change up to a resourceVersion, and each registered handler
// has got everything published so far. A test that has written an object can then check the outcome. With
// several sources, all have to reach the version. WaitDelivered does not wait for later events, for a resync,
// or for a handler that is stopped in the meantime. A handler must not call it, because it would wait for
// itself.
//
// It returns [ErrVersion] if the version cannot be compared with the store's.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}
