package indexer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// same is require.Same and require.Equal, but fast if they hold.
func (d *world) same(want, got *item, had, has bool) {
	if want != got || had != has {
		require.Equal(d.t, had, has)
		require.Same(d.t, want, got)
	}
}

// world runs random calls on an indexer and on its twin.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	w       *Writer
	x       *Indexer[*item]
	names   int // number of names in a namespace: few are hit often, many fill chunks
	m       model
	sources map[Key]uint16
	serial  int
	held    []heldSnapshot
}

// heldSnapshot is a snapshot with the content that it must keep.
type heldSnapshot struct {
	snapshot Snapshot[*item]
	want     []*item
}

func newWorld(t *testing.T, r *rand.Rand) *world { return worldOf(t, r, itemOptions()) }

func worldOf(t *testing.T, r *rand.Rand, o Options) *world {
	w, err := New(o)
	require.NoError(t, err)
	return &world{t: t, rand: r, w: w, x: items(w), names: 1 + r.IntN(60), m: model{}, sources: map[Key]uint16{}}
}

// decoded returns the item of a stored form, or nil.
func (d *world) decoded(stored any) *item {
	if stored == nil {
		return nil
	}
	return asItem(d.w.x.decode.object(stored))
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func (d *world) pick(from ...string) string { return from[d.rand.IntN(len(from))] }

func (d *world) key() Key {
	return Key{d.pick("", "a", "b", "c"), fmt.Sprint("n", d.rand.IntN(d.names))}
}

func (d *world) item(key Key) *item {
	d.serial++
	it := &item{key: key, serial: d.serial, labels: map[string]string{}}
	for _, label := range []string{"app", "tier", "odd"} {
		if d.rand.IntN(3) > 0 {
			it.labels[label] = d.pick("x", "y", "z")
		}
	}
	for range d.rand.IntN(4) {
		it.words = append(it.words, d.pick("red", "green", "blue"))
	}
	if d.rand.IntN(20) == 0 {
		it.words = append(it.words, "!")
	}
	return it
}

func (d *world) step() {
	switch n := d.rand.IntN(100); {
	case n < 50:
		d.update()
	case n < 60:
		d.replace()
	case n < 70:
		d.freeze()
	default:
		d.query()
	}
}

func (d *world) update() {
	update(d.w, func(tx *Tx) {
		for range d.rand.IntN(8) {
			key := d.key()
			want, had := d.m[key]
			var old any
			var was bool
			if d.rand.IntN(3) == 0 {
				old, was = tx.Delete(key)
				delete(d.m, key)
			} else {
				it := d.item(key)
				source := uint16(d.rand.IntN(2))
				_, before, replaced := tx.Put(source, key, it, 0)
				require.Equal(d.t, replaced, had)
				if old, was = before.Object, replaced; had {
					require.Equal(d.t, d.sources[key], before.Source)
				}
				d.m[key], d.sources[key] = it, source
			}
			require.Equal(d.t, had, was)
			require.Same(d.t, want, d.decoded(old))
		}
	})
}

// replace runs a full state of one part: it keeps some objects, puts some, drops some of these
// again, and lacks the rest. Meanwhile a user and the other source write.
func (d *world) replace() {
	source := uint16(d.rand.IntN(2))
	f := &fullState{Staging: d.w.Stage(source), source: source, put: model{}, kept: map[Key]bool{}}
	for range d.rand.IntN(d.names + 4) {
		key := d.key()
		stored, ok := d.m[key]
		mine := ok && d.sources[key] == source
		switch n := d.rand.IntN(12); {
		case n == 0:
			d.writeByHand(key, f)
		case n == 1:
			f.Drop(key)
			f.drop(key)
		case n < 6 && ok:
			require.Equal(d.t, mine, f.Keep(key, nil))
			if mine {
				f.put[key], f.kept[key] = stored, true
			}
		case n == 6:
			d.take(1-source, key)
			f.lose(key)
		default:
			f.put[key] = d.item(key)
			delete(f.kept, key)
			f.Put(key, f.put[key], 0)
		}
	}
	if d.rand.IntN(5) == 0 {
		d.compare()
		return // it is given up, and leaves no trace
	}
	d.commit(f.Staging, d.after(f))
}

// fullState is a full state under way: its objects, and the keys found unchanged.
type fullState struct {
	*Staging
	source uint16
	put    model
	kept   map[Key]bool
}

func (f *fullState) drop(key Key) {
	delete(f.put, key)
	delete(f.kept, key)
}

// lose records that an object is deleted, or another source's. If the full state has found it unchanged, it
// does not hold it any more.
func (f *fullState) lose(key Key) {
	if f.kept[key] {
		f.drop(key)
	}
}

// after returns the content of the store after the commit of a full state.
func (d *world) after(f *fullState) model {
	next := maps.Clone(d.m)
	maps.DeleteFunc(next, func(k Key, _ *item) bool { return d.sources[k] == f.source && f.put[k] == nil })
	for key, it := range f.put {
		_, stored := d.m[key]
		if f.kept[key] || stored && d.sources[key] != f.source && outdated(key) {
			continue
		}
		next[key], d.sources[key] = it, f.source
	}
	return next
}

// outdated reports whether a full state's object of a key is older than another source's.
func outdated(key Key) bool { return strings.HasSuffix(key.Name, "2") }

// take writes or deletes an object that has moved to a source.
func (d *world) take(source uint16, key Key) {
	update(d.w, func(tx *Tx) {
		if d.rand.IntN(3) == 0 {
			tx.Delete(key)
			delete(d.m, key)
			return
		}
		d.m[key], d.sources[key] = d.item(key), source
		tx.Put(source, key, d.m[key], 0)
	})
}

// writeByHand writes an object, or all objects, as a user may at any time.
func (d *world) writeByHand(key Key, f *fullState) {
	it := d.item(key)
	if _, ok := d.m[key]; !ok {
		d.sources[key] = 0
	}
	switch d.rand.IntN(5) {
	case 0:
		all := d.w.StageAll()
		all.Put(key, it, 0)
		all.Commit("", Visitor{})
		for other := range d.m {
			if other != key {
				f.lose(other)
			}
		}
		d.m = model{key: it}
	case 1:
		update(d.w, func(tx *Tx) { tx.Delete(key) })
		delete(d.m, key)
		f.lose(key)
	default:
		update(d.w, func(tx *Tx) { tx.Put(d.sources[key], key, it, 0) })
		d.m[key] = it
	}
}

func (d *world) commit(s *Staging, next model) {
	seen, puts, committed := maps.Clone(d.m), false, false
	changes := s.Commit(fmt.Sprint(d.serial), Visitor{
		Outdated: func(key Key, stored Stored, _ any) bool {
			if !outdated(key) {
				return false
			}
			require.Equal(d.t, d.sources[key], stored.Source)
			d.same(d.m[key], d.decoded(stored.Object), true, true)
			return true
		},
		Deleted: func(key Key, last any) {
			if puts {
				require.Fail(d.t, "deletions come first")
			}
			d.same(seen[key], d.decoded(last), true, true)
			delete(seen, key)
		},
		Put: func(key Key, old, obj any, replaced bool) {
			puts = true
			was, had := seen[key]
			d.same(was, d.decoded(old), had, replaced)
			seen[key] = d.decoded(obj)
		},
		Commit: func(*Tx) { committed = true },
	})
	require.True(d.t, committed)
	require.GreaterOrEqual(d.t, changes, 0)
	require.True(d.t, maps.Equal(next, seen))
	d.m = next
	require.Equal(d.t, fmt.Sprint(d.serial), d.x.Version())
}

func (d *world) freeze() {
	d.held = append(d.held, heldSnapshot{d.x.Snapshot(), slices.Collect(maps.Values(d.m))})
	word := d.pick("red", "green", "blue", "none")
	s, err := d.x.Lookup("word", word)
	require.NoError(d.t, err)
	d.held = append(d.held, heldSnapshot{s, d.m.by("word", word)})
	if len(d.held) > 8 {
		d.held = d.held[2:]
	}
}

func (d *world) query() {
	var rs []requirement
	for range d.rand.IntN(3) {
		r := requirement{key: d.pick("app", "tier", "odd", "never"), op: operator(1 + d.rand.IntN(5))}
		for range d.rand.IntN(3) {
			r.values = append(r.values, d.pick("x", "y", "z", "none"))
		}
		r.match = func(labels map[string]string) bool { return labels["app"] == "x" }
		rs = append(rs, r)
	}
	namespace := d.pick("", "a", "b", "none")
	sameSet(d.t, d.m.sel(namespace, rs), selected(d.x, namespace, rs...), "%q %+v", namespace, rs)
}

// compare compares all reads with the twin's.
func (d *world) compare() {
	d.w.x.writing.Lock()
	d.w.check()
	d.w.x.writing.Unlock()

	require.Equal(d.t, len(d.m), d.x.Len())
	sameSet(d.t, slices.Collect(maps.Values(d.m)), d.x.Snapshot().List())
	sameSet(d.t, slices.Collect(maps.Keys(d.m)), d.x.Keys())
	for _, name := range []string{"red", "green", "blue"} {
		want := d.m.by("word", name)
		sameSet(d.t, want, slices.Collect(d.x.By("word", name)))
		keys, err := d.x.keysBy("word", name)
		require.NoError(d.t, err)
		require.Len(d.t, keys, len(want))
	}
	either, err := union(d.x, "word", "red", "green", "red", "nope")
	require.NoError(d.t, err)
	sameSet(d.t, d.m.either("red", "green"), either)
	for k, it := range d.m {
		got, ok := d.x.Get(k)
		d.same(it, got, true, ok)
	}
	broken := 0
	for _, it := range d.m {
		if slices.Contains(it.words, "!") {
			broken++
		}
	}
	require.Equal(d.t, broken, countUnindexed(d.w))
	for _, h := range d.held {
		sameSet(d.t, h.want, h.snapshot.List())
		require.Equal(d.t, h.snapshot.Len(), len(slices.Collect(h.snapshot.All())))
	}
}
