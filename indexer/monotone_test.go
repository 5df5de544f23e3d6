package indexer

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// chapter is the version of one key's object: chapters come in order, and each key's last one is
// deleted for good. Some chapters are stored as values, and so are of another type than the others.
type chapter struct {
	key Key
	n   int
}

const lastChapter = 6

func (c chapter) stored() any {
	if c.n == 3 {
		return c
	}
	return &c
}

func chapterOf(obj any) chapter {
	if c, ok := obj.(*chapter); ok {
		return *c
	}
	return obj.(chapter)
}

// word is the chapter's index value.
func (c chapter) word() string { return fmt.Sprint("w", c.n%2) }

// reader is what one goroutine knows of one key from its reads so far: the lowest chapter that a
// later read may show.
type reader struct {
	x     *Indexer[any]
	key   Key
	least int
}

const deleted = math.MaxInt

// found notes the result of a read: the chapter, 0 for none.
func (r *reader) found(by string, n int) error {
	switch {
	case n == 0 && r.least == 0:
	case n == 0:
		r.least = deleted
	case n < r.least:
		return fmt.Errorf("%s shows chapter %d after a read that showed %d", by, n, r.least)
	default:
		r.least = n
	}
	return nil
}

func (r *reader) in(list []any) (n int) {
	for _, obj := range list {
		if c := chapterOf(obj); c.key == r.key {
			n = c.n
		}
	}
	return n
}

func (r *reader) get() error {
	n := 0
	if obj, ok := r.x.Get(r.key); ok {
		n = chapterOf(obj).n
	}
	return r.found("Get", n)
}

func (r *reader) list() error { return r.found("a list", r.in(r.x.Snapshot().List())) }

func (r *reader) ofNamespace() error {
	s, err := r.x.Lookup(NamespaceIndex, r.key.Namespace)
	if err != nil {
		return err
	}
	return r.found("the index by namespace", r.in(s.List()))
}

func (r *reader) selected() error {
	return r.found("a selector", r.in(selected(r.x, "", requirement{key: "app", op: opExists})))
}

// underWords reads an index whose value changes: a chapter that is not under its value any more is
// over.
func (r *reader) underWords() error {
	for i := range 2 {
		word := fmt.Sprint("w", i)
		s, err := r.x.Lookup("word", word)
		if err != nil {
			return err
		}
		n := r.in(s.List())
		switch {
		case n > 0:
			if err := r.found("the index by word", n); err != nil {
				return err
			}
		case r.least > 0 && r.least < deleted && (chapter{n: r.least}).word() == word:
			r.least++
		}
	}
	return nil
}

func newChapters(t *testing.T) *Writer {
	w, err := New(Options{
		Indexes: []Index[any]{
			{Name: NamespaceIndex, ByNamespace: true},
			{Name: "word", Append: func(values []string, obj any) []string { return append(values, chapterOf(obj).word()) }},
		},
		Labels:       func(any) map[string]string { return map[string]string{"app": "x"} },
		LabelIndexes: []string{"app"},
	})
	require.NoError(t, err)
	return w
}

// No read shows an older object than an earlier read of the same goroutine, whatever the two ways to
// read: a point read shows a write before its section ends, and then no list is older.
func TestReadsOfOneGoroutineNeverGoBack(t *testing.T) {
	unchecked(t)
	for name, read := range map[string]func(*reader) error{
		"list": (*reader).list, "namespace": (*reader).ofNamespace, "selector": (*reader).selected, "words": (*reader).underWords,
	} {
		t.Run(name, func(t *testing.T) {
			w := newChapters(t)
			for n := range 3 * chunkSize { // a shared chunk is copied before a write, which takes time
				key := Key{name, fmt.Sprint("ballast", n)}
				update(w, func(tx *Tx) { tx.Put(0, key, chapter{key, n}.stored(), 0) })
			}
			const keys = 600
			var present atomic.Int64 // the key being written
			var reading sync.WaitGroup
			for range 2 {
				reading.Go(func() {
					r := &reader{x: w.Indexer()}
					for at := present.Load(); at < keys; at = present.Load() {
						if key := (Key{name, fmt.Sprint(at)}); r.key != key {
							r.key, r.least = key, 0
						}
						err := r.get()
						if err == nil {
							err = read(r)
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for at := range int64(keys) {
				present.Store(at)
				writeChapters(w, Key{name, fmt.Sprint(at)})
			}
			present.Store(keys)
			reading.Wait()
		})
	}
}

// writeChapters writes all chapters of a key, and deletes it.
func writeChapters(w *Writer, key Key) {
	for n := 1; n <= lastChapter; n++ {
		update(w, func(tx *Tx) { tx.Put(0, key, chapter{key, n}.stored(), 0) })
	}
	update(w, func(tx *Tx) { tx.Delete(key) })
}

// A write changes every list before point reads show it. Here a list cannot be changed, and the write
// stops there: point reads show what was before.
func TestPointReadsShowAWriteLast(t *testing.T) {
	unchecked(t)
	a, b := Key{"ns", "a"}, Key{"ns", "b"}
	for name, write := range map[string]func(tx *Tx){
		"insert":       func(tx *Tx) { tx.Put(0, b, chapter{b, 1}.stored(), 0) },
		"update":       func(tx *Tx) { tx.Put(0, a, chapter{a, 5}.stored(), 0) },
		"another word": func(tx *Tx) { tx.Put(0, a, chapter{a, 2}.stored(), 0) },
		"another type": func(tx *Tx) { tx.Put(0, a, chapter{a, 3}.stored(), 0) },
		"delete":       func(tx *Tx) { tx.Delete(a) },
	} {
		for list, of := range map[string]func(*contents) *vector{
			"all objects": func(c *contents) *vector { return c.all },
			"a namespace": func(c *contents) *vector { return c.index(NamespaceIndex, named).list("", "ns") },
			"a word":      func(c *contents) *vector { return c.index("word", named).list("", "w1") },
			"a label":     func(c *contents) *vector { return c.index("app", byLabel).list("", "x") },
		} {
			t.Run(name+" in "+list, func(t *testing.T) {
				w := newChapters(t)
				update(w, func(tx *Tx) { tx.Put(0, a, chapter{a, 1}.stored(), 0) })
				of(w.x.live.Load()).chunks = nil
				require.Panics(t, func() { write(w.Begin()) })
				got, ok := w.Indexer().Get(a)
				require.True(t, ok)
				require.Equal(t, 1, chapterOf(got).n)
				_, ok = w.Indexer().Get(b)
				require.False(t, ok)
			})
		}
	}
}
