package informer

import "context"

// WaitSynced waits until the store is complete, and then returns nil. Waits, in the documentation of
// the package, describes the errors.
func (i *Informer[T]) WaitSynced(ctx context.Context) error { return i.core.WaitSynced(ctx) }

// WaitFor waits until the store shows an object as a write has returned it, or a newer version: a
// caller reads its own writes. The store shows a write by its event or, if the informer does not read
// the object, by the next event or bookmark. With several sources, WaitFor waits only for those whose
// namespace is the object's (see [reflector.Source]), and for none once the object itself has come.
//
// It returns [ErrVersion] if the object's version cannot be compared with the store's, [ErrQuarantined] if
// this version of the object or a later one could not be prepared, [ErrType] for an object without
// metadata, and [ErrNoSource] if no source reads the object's namespace.
func (i *Informer[T]) WaitFor(ctx context.Context, obj T) error { return i.core.WaitFor(ctx, obj) }

// WaitFresh waits until a read of the store is as new as a read from the server at the moment of the
// call, and then returns nil.
//
// First, the informer has to read all objects of the source, and to watch the source. Then WaitFresh asks each
// source for its newest version
// ([reflector.Newest]), and waits until the store has reached it. If nothing changes in the source, only
// a bookmark shows that, and servers send one a minute: after a second the reflector asks for one
// ([reflector.Reflector.AskForBookmark]), which takes about three. If the last change in the source was one
// that a selector or a share keeps back, a server sends none before somebody writes anything else to the
// cluster; WaitFresh then takes some seconds more. Calls at the same time share a question. The second step
// leaves out fakes, and sources whose lists have no version.
//
// To wait for a certain write, use [Informer.WaitFor], which asks the server nothing.
//
// WaitFresh returns [ErrVersion] if the source's versions do not compare. If a source sends no bookmarks,
// though it is no fake and its lists have versions, WaitFresh waits for its next event.
func (i *Informer[T]) WaitFresh(ctx context.Context) error { return i.core.WaitFresh(ctx) }

// WaitDelivered waits until the store holds every change up to a resourceVersion, and then until each
// registered handler has been told everything published so far: a test that has written an object can
// then check the outcome. With several sources, all have to reach the version. WaitDelivered does not wait
// for later events, for a resync, or for a handler that is stopped meanwhile. A handler that calls it waits
// for itself.
//
// It returns [ErrVersion] if the version cannot be compared with the store's.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}
