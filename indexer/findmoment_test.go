package indexer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// A troupe is a store of objects that move together: at each moment all members of a set have the same
// color and the same word. What Find returns of a set is therefore all of it, or nothing. The members
// of the last set are in another source, and never move.
type troupe struct {
	t     *testing.T
	rand  *rand.Rand
	w     *Writer
	sets  [][]*item
	extra []*item // of the last replacement
	late  int     // the number of indexes added
}

const (
	troupeSets    = 8
	troupeMembers = 6 // two in each namespace
)

var colors = []string{"red", "green", "blue"}

func newTroupe(t *testing.T, r *rand.Rand) *troupe {
	o := itemOptions()
	if r.IntN(2) == 0 {
		o.Codec = new(fakecodec.Codec)
	}
	if r.IntN(2) == 0 {
		o.LabelIndexes = []string{"color"}
	}
	w, err := New(o)
	require.NoError(t, err)
	d := &troupe{t: t, rand: r, w: w, sets: make([][]*item, troupeSets)}
	update(w, func(tx *Tx) {
		for n := range d.sets {
			d.turn(n)
			for _, it := range d.sets[n] {
				tx.Put(d.source(n), it.key, it, 0)
			}
		}
	})
	return d
}

func (d *troupe) source(n int) uint16 { return uint16(n / (troupeSets - 1)) } //nolint:gosec // 0 or 1

// turn gives a set another color.
func (d *troupe) turn(n int) { d.sets[n] = setOf(n, colors[d.rand.IntN(len(colors))]) }

// setOf returns the members of a set in a color.
func setOf(n int, color string) (set []*item) {
	for i := range troupeMembers {
		it := &item{key: Key{"abc"[i%3 : i%3+1], fmt.Sprint("n", n, "-", i)}, serial: n, words: []string{color}}
		it.labels = map[string]string{"color": color, "set": fmt.Sprint(n)}
		set = append(set, it)
	}
	return set
}

func (d *troupe) step() {
	switch n := d.rand.IntN(40); {
	case n == 0:
		d.replace(rebuildAbove + 1)
	case n < 4:
		d.replace(d.rand.IntN(10))
	case n == 4 && d.late < 6:
		d.late++
		require.NoError(d.t, d.w.AddIndexes(Index[*item]{Name: fmt.Sprint("late", d.late), Append: words}.Untyped()))
	case n < 8:
		dropBuilt(d.w)
	default:
		n := d.rand.IntN(troupeSets - 1)
		d.turn(n)
		update(d.w, func(tx *Tx) {
			for _, it := range d.sets[n] {
				tx.Put(0, it.key, it, 0)
			}
		})
	}
}

// replace replaces the sets that move, with some more objects, which have no color.
func (d *troupe) replace(extra int) {
	d.extra = nil
	s := d.w.Stage(0)
	for n := range troupeSets - 1 {
		if d.rand.IntN(3) > 0 {
			d.turn(n)
		}
		for _, it := range d.sets[n] {
			if stored, ok := items(d.w).Get(it.key); !ok || stored != it || !s.Keep(it.key, nil) {
				s.Put(it.key, it, 0)
			}
		}
	}
	for i := range extra {
		it := &item{key: Key{"extra", fmt.Sprint(i)}, serial: -1, words: []string{"none"}}
		d.extra = append(d.extra, it)
		s.Put(it.key, it, 0)
	}
	s.Commit(fmt.Sprint(d.rand.Uint32()), Visitor{})
}

func (d *troupe) compare() {
	all := slices.Concat(slices.Concat(d.sets...), d.extra)
	finds(d.t, items(d.w), all, troupeQueries(d.rand)...)
}

// troupeQueries returns one query or several.
func troupeQueries(r *rand.Rand) (queries []Query) {
	for more := true; more; more = len(queries) < 4 && r.IntN(3) == 0 {
		color, other := colors[r.IntN(len(colors))], colors[r.IntN(len(colors))]
		var q Query
		if r.IntN(3) == 0 {
			q.Namespace = "abc"[:1]
		}
		if r.IntN(3) > 0 {
			q.Fields = map[string]string{"word": color}
		}
		switch r.IntN(6) {
		case 0:
			q.Labels = labels.Set{"color": color}.AsSelector()
		case 1:
			q.Labels = labels.Set{"color": other}.AsSelector()
		case 2:
			q.Labels, _ = labels.Parse("color in (" + color + "," + other + ")")
		case 3:
			q.Labels, _ = labels.Parse("color,set!=3")
		case 4:
			q.Labels = ofColor{labels.Everything(), color}
		}
		queries = append(queries, q)
	}
	return queries
}

// ofColor is a selector of a foreign type.
type ofColor struct {
	labels.Selector
	color string
}

func (c ofColor) Matches(l labels.Labels) bool { return l.Get("color") == c.color }

// colored and uncolored name a member of a set, with its color and without.
func colored(it *item) string   { return uncolored(it) + " " + it.words[0] }
func uncolored(it *item) string { return it.key.String() }

func names(all []*item, name func(*item) string) (names []string) {
	for _, it := range all {
		names = append(names, name(it))
	}
	return names
}

// checkMoment returns an error if at no moment the queries select, of each set, just the objects of these names.
func (d *troupe) checkMoment(got []string, name func(*item) string, queries []Query) error {
	for n := range d.sets {
		possible := colors
		if n == troupeSets-1 {
			possible = d.sets[n][0].words // it never moves
		}
		var members []string
		for _, color := range colors {
			members = append(members, names(setOf(n, color), name)...)
		}
		set := slices.DeleteFunc(slices.Clone(got), func(name string) bool { return !slices.Contains(members, name) })
		if !slices.ContainsFunc(possible, func(color string) bool { return sameNames(set, names(found(setOf(n, color), queries...), name)) }) {
			return fmt.Errorf("%v, which %v cannot select at once", set, queries)
		}
	}
	return nil
}

// sameNames compares names without regard to their order.
func sameNames(got, want []string) bool {
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

// find asks random queries until steps is closed: some with each step of the writer, which would wait long for a
// lock that is asked for without end.
func (d *troupe) find(steps <-chan struct{}, seed uint64) error {
	r := seeded(seed)
	for range steps {
		queries := troupeQueries(r)
		s, err := items(d.w).Find(queries...)
		keys, keysErr := items(d.w).FindKeys(queries...)
		var found []string
		for _, key := range keys {
			found = append(found, key.String())
		}
		if err := cmp.Or(err, keysErr, d.checkMoment(names(s.List(), colored), colored, queries), d.checkMoment(found, uncolored, queries)); err != nil {
			return err
		}
	}
	return nil
}

// racedSteps bounds the writer's steps of a run under the race detector, where most of the time goes into comparing.
const racedSteps = 64

// Find equals a filter over all objects. While a writer writes, it shows one moment.
func FuzzFind(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		d := newTroupe(t, r)
		steps := make(chan struct{}, 8)
		var wg sync.WaitGroup
		for seed := range uint64(2) {
			wg.Go(func() {
				if err := d.find(steps, seed); err != nil {
					t.Error(err)
				}
			})
		}
		for n := 0; more() && (n < racedSteps || !tier.Raced() || tier.Long()); n++ {
			for range cap(steps) / 2 {
				select {
				case steps <- struct{}{}:
				default: // the readers are behind
				}
			}
			d.step()
			d.compare()
		}
		close(steps)
		wg.Wait()
	})
}

// Objects are found while full states with 100,000 other versions of them are swapped in: all in one
// version, none twice, and none is missing. The candidates are a few, or all.
func TestContract_D37_FindDuringLargeRelists(t *testing.T) {
	n := 100_000
	if tier.Raced() {
		n = 2 * rebuildAbove
	}
	unchecked(t) // the checks of each relist would take most of the time
	w, err := New(itemOptions())
	require.NoError(t, err)
	relist := func(serial int) {
		s := w.Stage(0)
		for i := range n {
			it := &item{key: Key{"ab"[i%2 : i%2+1], fmt.Sprint(i)}, serial: serial, words: []string{"all", fmt.Sprint("w", i/20)}}
			it.labels = map[string]string{"odd": fmt.Sprint(i%4 == 1)}
			s.Put(it.key, it, 0)
		}
		s.Commit(fmt.Sprint(serial), Visitor{})
	}
	relist(0)
	odd := labels.Set{"odd": "true"}.AsSelector()
	queries := func(word string) Query {
		return Query{Namespace: "b", Labels: odd, Fields: map[string]string{"word": word}}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for word, want := range map[string]int{"all": n / 4, "w7": 5, "w77": 10} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				s, err := items(w).Find(queries(word), queries("w7"))
				keys, keysErr := items(w).FindKeys(queries(word), queries("w7"))
				if err = cmp.Or(err, keysErr); err != nil || s.Len() != want || len(keys) != want {
					t.Errorf("%v: %d objects and %d keys instead of %d, %v", word, s.Len(), len(keys), want, err)
					return
				}
				for it := range s.All() {
					if fmt.Sprint(it.serial) != s.Version() || it.labels["odd"] != "true" {
						t.Errorf("%v: an object of version %d at %s", word, it.serial, s.Version())
						return
					}
				}
			}
		})
	}
	for serial := range 3 {
		relist(serial + 1)
	}
	close(done)
	wg.Wait()
}
