package indexer

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
)

// twins writes pairs of objects. At the end of each write section, both objects of a pair have the
// same serial, labels and words, and either both are stored or none. A list that shows one moment of
// the store shows whole pairs.
type twins struct {
	t      *testing.T
	w      *Writer
	serial int
}

const pairs = 40

func pairKeys(n int) (left, right Key) {
	return Key{"left", fmt.Sprint(n)}, Key{"right", fmt.Sprint(n)}
}

func (d *twins) pair(n int) (left, right *item) {
	d.serial++
	l, r := pairKeys(n)
	labels := map[string]string{"app": fmt.Sprint("v", d.serial%5), fmt.Sprint("only", d.serial%3): "yes"}
	words := []string{fmt.Sprint("w", d.serial%4)}
	if d.serial%7 == 0 {
		words = append(words, "!")
	}
	return &item{l, d.serial, labels, words}, &item{r, d.serial, labels, words}
}

// write updates some pairs in one section, or replaces all pairs.
func (d *twins) write(round int) {
	switch round % 30 {
	case 29:
		d.stage(round%100 == 89)
		d.stage(false) // without the ballast, which all checks would count
	default:
		update(d.w, func(tx *Tx) {
			for k := range 3 {
				n := (round*3 + k) % pairs
				left, right := d.pair(n)
				if d.serial%4 == 0 {
					tx.Delete(left.key)
					tx.Delete(right.key)
					continue
				}
				tx.Put(0, left.key, left, 0)
				tx.Put(0, right.key, right, 0)
			}
			tx.SetVersion(fmt.Sprint(round + 1))
		})
	}
}

// stage replaces the pairs and keeps some. If large, it adds ballast, so that the replacement is
// built aside.
func (d *twins) stage(large bool) {
	s := d.w.Stage(0)
	if large {
		for n := range rebuildAbove + 10 {
			key := Key{"ballast", fmt.Sprint(n)}
			s.Put(key, &item{key: key, labels: map[string]string{"ballast": "yes"}}, 0)
		}
	}
	for n := range pairs {
		left, right := d.pair(n)
		if n%2 == 0 && s.Keep(left.key, nil) {
			s.Keep(right.key, nil)
			continue
		}
		s.Put(right.key, right, 0)
		s.Put(left.key, left, 0)
	}
	d.serial++
	s.Commit(fmt.Sprint("staged", d.serial), Visitor{})
}

// whole returns an error unless a list holds whole pairs.
func whole(list []*item) error {
	seen := map[string]*item{}
	for _, it := range list {
		if it.key.Namespace == "ballast" {
			continue
		}
		other := seen[it.key.Name]
		switch {
		case other == nil:
			seen[it.key.Name] = it
		case other.serial != it.serial || other.key == it.key:
			return fmt.Errorf("%v@%d beside %v@%d", it.key, it.serial, other.key, other.serial)
		default:
			delete(seen, it.key.Name)
		}
	}
	for _, it := range seen {
		return fmt.Errorf("%v@%d is alone among %d", it.key, it.serial, len(list))
	}
	return nil
}

// readers are all ways to read a list of one moment.
func readers(x *Indexer[*item]) map[string]func(n int) error {
	return map[string]func(n int) error{
		"Snapshot": func(int) error {
			s := x.Snapshot()
			list := s.List()
			if err := whole(list); err != nil {
				return err
			}
			for i, it := range list {
				if s.At(i) != it {
					return fmt.Errorf("At(%d) is another", i)
				}
			}
			if again := slices.Collect(s.All()); !slices.Equal(list, again) {
				return fmt.Errorf("the snapshot has changed")
			}
			return nil
		},
		"By": func(n int) error { return whole(slices.Collect(x.By("word", fmt.Sprint("w", n%4)))) },
		"Union": func(n int) error {
			list, err := union(x, "word", "w0", fmt.Sprint("w", n%4), "!")
			if err != nil {
				return err
			}
			return whole(list)
		},
		"Select":   func(n int) error { return whole(selected(x, "", in("app", fmt.Sprint("v", n%5)))) },
		"Select 2": func(n int) error { return whole(selected(x, "", in("app", "v0", "v1", fmt.Sprint("v", n%5)))) },
		"Select built on first use": func(n int) error {
			return whole(selected(x, "", requirement{key: fmt.Sprint("only", n%3), op: opExists}))
		},
		"Select but": func(n int) error {
			return whole(selected(x, "", requirement{key: "app", op: opNotIn, values: []string{fmt.Sprint("v", n%5)}}))
		},
		"Find": func(n int) error {
			word := map[string]string{"word": fmt.Sprint("w", n%4)}
			s, err := x.Find(Query{Labels: labels.Set{"app": fmt.Sprint("v", n%5)}.AsSelector(), Fields: word}, Query{Fields: word})
			if err != nil {
				return err
			}
			return whole(s.List())
		},
		"Keys": func(int) error {
			count := map[string]int{}
			for _, key := range x.Keys() {
				count[key.Name]++
				if key.Namespace == "ballast" {
					count[key.Name]++
				}
			}
			for name, n := range count {
				if n%2 != 0 {
					return fmt.Errorf("%s is alone", name)
				}
			}
			return nil
		},
		"FindKeys of an index": func(int) error {
			left, err := x.keysBy(NamespaceIndex, "left")
			for _, key := range left {
				if key.Namespace != "left" {
					return fmt.Errorf("%v under left", key)
				}
			}
			return err
		},
		"Values": func(int) error {
			values, err := x.Values("word")
			if len(values) > 4 {
				return fmt.Errorf("%d words", len(values))
			}
			return err
		},
		"Get": func(n int) error {
			left, _ := pairKeys(n % pairs)
			if it, ok := x.Get(left); ok && it.key != left {
				return fmt.Errorf("%v instead of %v", it.key, left)
			}
			_ = x.Len() + len(x.Version()) + len(x.Indexes())
			return nil
		},
	}
}

// selected is Select, by requirements instead of a selector.
func selected[T any](x *Indexer[T], namespace string, requirements ...requirement) []T {
	found, _ := choose[T](&x.store, namespace, requirements)
	return found
}

// union returns the objects under any of several values of an index.
func union[T any](x *Indexer[T], index string, values ...string) ([]T, error) {
	var queries []Query
	for _, value := range values {
		queries = append(queries, Query{Fields: map[string]string{index: value}})
	}
	found, err := x.Find(queries...)
	return found.List(), err
}

func in(key string, values ...string) requirement {
	return requirement{key: key, op: opIn, values: values}
}

// Each kind of list shows one moment of the store, while a writer writes.
func TestEveryListIsOneMoment(t *testing.T) {
	o := itemOptions()
	w, err := New(o)
	require.NoError(t, err)
	d := &twins{t: t, w: w}
	x := items(w)
	done := make(chan struct{})
	var wg sync.WaitGroup
	faults := make(chan error, 100)
	for name, read := range readers(x) {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := read(n); err != nil {
					faults <- fmt.Errorf("%s: %w", name, err)
					return
				}
			}
		})
	}
	for round := range 150 {
		d.write(round)
		if round%60 == 30 {
			require.NoError(t, w.AddIndexes(Index[*item]{Name: fmt.Sprint("late", round), Append: words}.Untyped()))
		}
	}
	close(done)
	wg.Wait()
	close(faults)
	for err := range faults {
		t.Error(err)
	}
	for round := range 150 {
		if round%60 == 30 {
			for _, word := range []string{"w0", "w1", "w2", "w3"} {
				sameSet(t, slices.Collect(x.By("word", word)), slices.Collect(x.By(fmt.Sprint("late", round), word)))
			}
		}
	}
}

// Get never sees half of a swap, while a large full state replaces the store.
func TestGetWhileALargeStateIsSwappedIn(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	const n = rebuildAbove + 100
	fill := func(serial int) {
		s := w.Stage(0)
		for i := range n {
			key := Key{"a", fmt.Sprint(i)}
			s.Put(key, &item{key: key, serial: serial}, 0)
		}
		s.Commit(fmt.Sprint(serial), Visitor{})
	}
	fill(1)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		last := map[Key]int{}
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			key := Key{"a", fmt.Sprint(i % n)}
			it, ok := items(w).Get(key)
			if !ok || it.serial < last[key] {
				t.Errorf("%v: %v, was at %d", key, ok, last[key])
				return
			}
			last[key] = it.serial
		}
	})
	for serial := range 4 {
		fill(serial + 2)
	}
	close(done)
	wg.Wait()
}

// A snapshot never changes. Writing from within a loop over a snapshot does not deadlock.
func TestSnapshotsStayAsTheyWere(t *testing.T) {
	w, x := newItems(t)
	update(w, func(tx *Tx) {
		for n := range 2*chunkSize + 10 {
			key := Key{"a", fmt.Sprint(n)}
			tx.Put(0, key, &item{key: key, serial: n}, 0)
		}
		tx.SetVersion("7")
	})
	s := x.Snapshot()
	before := s.List()
	require.Equal(t, "7", s.Version())
	n := 0
	for it := range s.All() {
		update(w, func(tx *Tx) { tx.Delete(it.key) })
		if n++; n > chunkSize+1 {
			break
		}
	}
	require.Equal(t, before, s.List())
	for i, it := range before {
		require.Same(t, it, s.At(i))
	}
	require.Equal(t, len(before)-n, x.Len())
	require.Nil(t, Snapshot[*item]{}.List())
	require.Zero(t, Snapshot[*item]{}.Len())
}
