package metrics

import (
	"cmp"
	"maps"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// figures are the numbers of an informer, or of several informers with the same labels.
type figures struct {
	objects, quarantined, unindexed, leftOut int
	objectBytes, engineBytes                 int64 // of objects held decoded, of everything else
	packedBytes, decodedBytes                int64
	storage                                  informer.StorageStatus // Budget: of any of the informers
	synced, watching                         bool                   // of all informers
	conditions                               map[readiness.Condition]bool
	staleness, syncTook                      time.Duration // the longest of the informers

	lists, streams, watches, retries int
	relists                          map[reflector.Cause]int
	errors                           map[reflector.ErrorClass]int
	waited                           time.Duration
	added, updated, deleted          uint64
	bookmarks, shared                uint64
	shard                            informer.ShardStatus // Share: of any of the informers that has one
	ownWrites                        informer.OwnWrites   // Linked: of any of the informers
	decoding                         timed

	handlers []handlerFigures // in the order of their registration
	index    map[string]int   // positions in handlers, by name
}

// handlerFigures are the numbers of a handler, or of several handlers with the same name.
type handlerFigures struct {
	name     string
	told     uint64
	backlog  int
	lag      time.Duration // the longest
	calls    timed
	failures int
}

// timed counts timed operations and adds up their durations.
type timed struct {
	count uint64
	took  time.Duration
}

func (t *timed) add(more timed) { t.count, t.took = t.count+more.count, t.took+more.took }

// figuresOf returns the numbers of an informer. An informer of another module has only a few.
func figuresOf(h factory.Held) figures {
	f := figuresOfStatus(h.Status)
	if i := h.Inspector(); i != nil {
		f.inspect(i.Memory(), i.Decoding(), i.Handlers())
	}
	return f
}

// figuresOfStatus returns the numbers in a status.
func figuresOfStatus(s informer.Status) figures {
	f := figures{
		objects: s.Objects, quarantined: s.Quarantined, unindexed: s.Unindexed, leftOut: s.LeftOut,
		synced: s.Synced, watching: s.Watching,
		conditions: map[readiness.Condition]bool{},
		staleness:  s.Staleness, syncTook: s.SyncTook,
		lists: s.Totals.Lists, streams: s.Totals.Streams, watches: s.Totals.Watches, retries: s.Totals.Waits,
		relists: maps.Clone(s.Totals.Relists), errors: maps.Clone(s.Totals.Errors), waited: s.Totals.Waited,
		added: s.Totals.Added, updated: s.Totals.Updated, deleted: s.Totals.Deleted,
		bookmarks: s.Totals.Bookmarks, shared: s.Totals.Shared, shard: s.Shard, ownWrites: s.OwnWrites, storage: s.Storage,
		index: make(map[string]int, len(s.Handlers)),
	}
	for _, found := range readiness.Examine(s, readiness.Options{}) {
		f.conditions[found.Condition] = true
	}
	for _, h := range s.Handlers {
		f.addHandler(handlerFigures{name: h.Name, told: h.Told, backlog: h.Backlog, failures: h.Failures})
	}
	return f
}

// inspect adds the measurements of an inspector.
func (f *figures) inspect(m informer.Memory, d informer.DecodeMeasures, handlers []informer.HandlerMeasures) {
	f.objectBytes, f.packedBytes, f.decodedBytes, f.engineBytes = m.Objects-m.Packed-m.Decoded, m.Packed, m.Decoded, m.Engine
	f.decoding = timed{d.Sampled, d.Took}
	for _, h := range handlers {
		f.addHandler(handlerFigures{name: h.Name, lag: h.Lag, calls: timed{h.Sampled, h.Took}})
	}
}

// addHandler adds the numbers of a handler to those of the same name. If there are too many
// handlers, it adds them to "other".
func (f *figures) addHandler(h handlerFigures) {
	h.name = label(h.name)
	i, known := f.index[h.name]
	if !known && len(f.handlers) >= maxHandlers {
		h.name = other
		i, known = f.index[other]
	}
	if !known {
		f.index[h.name] = len(f.handlers)
		f.handlers = append(f.handlers, h)
		return
	}
	sum := &f.handlers[i]
	sum.told += h.told
	sum.backlog += h.backlog
	sum.lag = max(sum.lag, h.lag)
	sum.calls.add(h.calls)
	sum.failures += h.failures
}

// add adds the numbers of another informer with the same labels.
func (f *figures) add(more figures) {
	f.objects += more.objects
	f.quarantined += more.quarantined
	f.unindexed += more.unindexed
	f.leftOut += more.leftOut
	f.objectBytes += more.objectBytes
	f.engineBytes += more.engineBytes
	f.packedBytes += more.packedBytes
	f.decodedBytes += more.decodedBytes
	f.storage.Budget = cmp.Or(f.storage.Budget, more.storage.Budget)
	f.storage.Pinned += more.storage.Pinned
	f.storage.Decodes += more.storage.Decodes
	f.synced = f.synced && more.synced
	f.watching = f.watching && more.watching
	maps.Copy(f.conditions, more.conditions)
	f.staleness = max(f.staleness, more.staleness)
	f.syncTook = max(f.syncTook, more.syncTook)
	f.lists += more.lists
	f.streams += more.streams
	f.watches += more.watches
	f.retries += more.retries
	f.relists = sum(f.relists, more.relists)
	f.errors = sum(f.errors, more.errors)
	f.waited += more.waited
	f.added += more.added
	f.updated += more.updated
	f.deleted += more.deleted
	f.bookmarks += more.bookmarks
	f.shared += more.shared
	if f.shard.Share.Field() == 0 {
		f.shard.Share = more.shard.Share
	}
	f.shard.Foreign += more.shard.Foreign
	f.shard.Server = max(f.shard.Server, more.shard.Server) // one that does not filter counts
	f.addOwnWrites(more.ownWrites)
	f.decoding.add(more.decoding)
	for _, h := range more.handlers {
		f.addHandler(h)
	}
}

func (f *figures) addOwnWrites(more informer.OwnWrites) {
	w := &f.ownWrites
	w.Linked = w.Linked || more.Linked
	w.Shown += more.Shown
	w.Outside += more.Outside
	w.Waiting += more.Waiting
	w.Doubtful += more.Doubtful
	w.Ghosts += more.Ghosts
	w.Pending += more.Pending
}

// sum adds the counts of b to a, and returns a. If a is nil, it returns b.
func sum[K comparable](a, b map[K]int) map[K]int {
	if a == nil {
		return b
	}
	for k, n := range b {
		a[k] += n
	}
	return a
}
