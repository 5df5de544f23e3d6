package indexer

import (
	"slices"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// check panics if the live contents break an invariant. The caller holds x.writing.
func (w *Writer) check() {
	c := w.x.live.Load()
	c.records.check()
	c.all.check()
	verify.That(c.all.len() == c.records.live, "%d objects in the list, %d in the table", c.all.len(), c.records.live)
	verify.That(!c.shared, "readers see contents that are being made")
	for n := range c.records.all {
		verify.That(c.all.owner(n.value.pos) == n, "%q is not where it says", n.key())
		w.checkPostings(c, n)
	}
	for _, ix := range c.indexes {
		ix.check()
	}
}

// checkPostings compares a record's postings with its index values, computed anew.
func (w *Writer) checkPostings(c *contents, r *record) {
	want := 0
	obj := w.x.decode.object(r.value.stored())
	for _, ix := range c.indexes {
		if _, broken := ix.unindexed[r.key()]; broken {
			continue
		}
		for _, value := range ix.valuesOf(nil, r, r.value.stored(), obj) { // cannot fail: a record with a failed function is marked as broken
			p, ok := r.value.postingOf(indexKey{ix, value})
			verify.That(ok && &p.list.value == ix.list(r.namespace.Value(), value) && p.list.value.owner(p.pos) == r,
				"%q is not under %q of index %q", r.key(), value, ix.Name)
			want++
		}
	}
	verify.That(r.value.postingCount() == want, "%q has %d postings, not %d", r.key(), r.value.postingCount(), want)
	for i := range want {
		verify.That(r.value.findPosting(r.value.posting(i).list) == i, "posting %d of %q is not found", i, r.key())
	}
}

// postingOf returns the record's posting for an index value, if it has one.
func (e *entry) postingOf(v indexKey) (p posting, ok bool) {
	for i := range e.postingCount() {
		if p := e.posting(i); v.isOf(p.list) {
			return p, true
		}
	}
	return p, false
}

func (x *index) check() {
	x.values.check()
	for n := range x.values.all {
		verify.That(n.value.index == x, "a list of index %q belongs to another", x.Name)
		verify.That(n.value.len() > 0, "the list of %q in index %q is empty", n.name(), x.Name)
		n.value.check()
	}
}

func (v *vector) check() {
	size := 0
	for i, c := range v.chunks {
		verify.That(c.objects.len() == len(c.owners), "chunk %d has %d objects, %d owners", i, c.objects.len(), len(c.owners))
		verify.That(i == len(v.chunks)-1 || c.objects.len() == chunkSize, "chunk %d is not full", i)
		verify.That(c.objects.len() > 0, "chunk %d is empty", i)
		verify.That(c.generation <= v.generation, "chunk %d is ahead of its list", i)
		size += c.objects.len()
	}
	verify.That(size == v.len(), "%d objects in the chunks, %d in the list", size, v.len())
	if s := v.cached.Load(); s != nil {
		verify.That(s.size == size && slices.Equal(s.chunks, v.chunks), "the frozen snapshot is not the list")
	}
}

func (t *table[V]) check() {
	live, used := 0, 0
	groups := *t.groups.Load()
	for i := range groups {
		g := &groups[i]
		verify.That(g.tags.Load()>>(8*groupSize) == tombstone, "group %d has a tag of no slot", i)
		for s := range g.slots {
			n, tag := g.slots[s].Load(), g.tags.Load()>>(8*s)&0xff
			verify.That((n == nil) == (tag == empty || tag == tombstone), "slot %d of group %d has tag %x", s, i, tag)
			if tag != empty {
				used++
			}
			if n != nil {
				live++
				verify.That(t.get(n.key()) == n, "%q is in the table and not found", n.key())
			}
		}
	}
	verify.That(live == t.live && used == t.used, "table counts %d/%d, has %d/%d", t.live, t.used, live, used)
	verify.That(used*5 <= len(groups)*groupSize*4, "table is too full: %d of %d", used, len(groups)*groupSize)
}
