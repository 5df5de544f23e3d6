package indexer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

func withLabels(n int, labels func(i int) map[string]string) func(tx *Tx) {
	return func(tx *Tx) {
		for i := range n {
			key := Key{"a", fmt.Sprint(i)}
			tx.Put(0, key, &item{key: key, labels: labels(i)}, 0)
		}
	}
}

// ask selects by a key until the key has an index.
func ask(x *Indexer[any], namespace, key string) {
	for range asksToBuild {
		selected(x, namespace, requirement{key: key, op: opIn, values: []string{"x"}})
	}
}

func labelIndexes(x *Indexer[any]) (all []*index) {
	for _, ix := range x.live.Load().indexes {
		if ix.family != named {
			all = append(all, ix)
		}
	}
	return all
}

func keysOf(all []*index) (keys []string) {
	for _, ix := range all {
		keys = append(keys, fmt.Sprint(ix.Name, " ", ix.family == byLabelIn))
	}
	return keys
}

// crowded counts the label keys that are remembered as almost unique.
func crowded(x *Indexer[any]) (n int) {
	for _, d := range x.writer.asked.keys {
		if d.crowdedAt > 0 {
			n++
		}
	}
	return n
}

func TestALabelIndexIsBuiltWhenItIsAskedForRepeatedly(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	update(w, withLabels(100, func(int) map[string]string { return map[string]string{"app": "x"} }))
	x := w.Indexer()
	app := requirement{key: "app", op: opIn, values: []string{"x"}}
	for i := range asksToBuild {
		require.Empty(t, labelIndexes(x), "after %d selectors", i)
		require.Len(t, selected(x, "", app), 100)
	}
	require.Equal(t, []string{"app false"}, keysOf(labelIndexes(x)))
	require.Equal(t, []IndexSize{{Name: "app", Values: 1, Entries: 100}}, x.LabelIndexSizes())
	ask(x, "a", "app")
	require.Equal(t, []string{"app false", "app true"}, keysOf(labelIndexes(x)))
}

func TestADeclaredLabelIndexIsThereFromTheBeginning(t *testing.T) {
	o := itemOptions()
	o.LabelIndexes = []string{"app", "id", "app"}
	w, err := New(o)
	require.NoError(t, err)
	const n = tooManyFrom + 300
	update(w, withLabels(n, func(i int) map[string]string { return map[string]string{"app": "x", "id": fmt.Sprint(i)} }))
	require.Equal(t, []string{"app false", "id false"}, keysOf(labelIndexes(w.Indexer())), "who asks for an index has it")
	require.Equal(t, n, w.Indexer().LabelIndexSizes()[1].Values)
	require.Len(t, selected(w.Indexer(), "", requirement{key: "id", op: opIn, values: []string{"7"}}), 1)
}

func TestLabelIndexesThatAreAlmostUniqueAreDropped(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	const n = tooManyFrom + 300
	update(w, withLabels(n, func(i int) map[string]string { return map[string]string{"id": fmt.Sprint(i)} }))
	x := w.Indexer()
	ask(x, "", "id")
	ask(x, "a", "id")
	require.Empty(t, keysOf(labelIndexes(x)))
	require.Equal(t, 2, crowded(x))
	for _, namespace := range []string{"", "a"} {
		require.Len(t, selected(x, namespace, requirement{key: "id", op: opIn, values: []string{"7", "7", "8"}}), 2, "and still answered")
	}
	require.Empty(t, selected(x, "b", requirement{key: "id", op: opIn, values: []string{"7"}}))
}

// A label index that was dropped because most objects were gone is built again when they are back.
func TestADroppedLabelIndexComesBack(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	const n = 8 * tooManyFrom
	labels := func(i int) map[string]string { return map[string]string{"app": fmt.Sprint(i % (tooManyFrom + 1))} }
	update(w, withLabels(n, labels))
	x := w.Indexer()
	ask(x, "", "app")
	require.Equal(t, []string{"app false"}, keysOf(labelIndexes(x)))
	update(w, func(tx *Tx) {
		for i := tooManyFrom + 1; i < n; i++ {
			tx.Delete(Key{"a", fmt.Sprint(i)})
		}
	})
	require.Empty(t, keysOf(labelIndexes(x)))
	ask(x, "", "app")
	require.Empty(t, keysOf(labelIndexes(x)), "not as long as it would not pay")
	update(w, withLabels(n, labels))
	ask(x, "", "app")
	require.Equal(t, []string{"app false"}, keysOf(labelIndexes(x)))
	require.Zero(t, crowded(x))
}

// An index that selectors stop asking for is given up while the store is written, and makes room for
// other keys. One that they go on asking for stays, and so does a declared one.
func TestAnUnusedLabelIndexIsDropped(t *testing.T) {
	tier.SkipRaced(t)
	synctest.Test(t, func(t *testing.T) {
		o := itemOptions()
		o.LabelIndexes = []string{"key0"}
		w, err := New(o)
		require.NoError(t, err)
		labels := make(map[string]string)
		for key := range maxLabelIndexes + 2 {
			labels[fmt.Sprint("key", key)] = "x"
		}
		update(w, withLabels(2*chunkSize, func(int) map[string]string { return labels }))
		x := w.Indexer()
		for key := range maxLabelIndexes {
			ask(x, "", fmt.Sprint("key", key+1))
		}
		require.Len(t, keysOf(labelIndexes(x)), 1+maxLabelIndexes)
		before := x.Bytes()
		writes := func() {
			for range sectionsPerLook {
				update(w, func(tx *Tx) { tx.SetVersion("2") })
			}
		}
		for range 3 {
			time.Sleep(unaskedFor)
			require.Len(t, selected(x, "", requirement{key: "key7", op: opIn, values: []string{"x"}}), 2*chunkSize)
			writes()
		}
		require.Equal(t, []string{"key0 false", "key7 false"}, keysOf(labelIndexes(x)))
		require.Less(t, x.Bytes(), before/4)

		ask(x, "", fmt.Sprint("key", maxLabelIndexes+1))
		ask(x, "", "key8")
		require.Len(t, keysOf(labelIndexes(x)), 4, "there is room again")
		writes()
		require.Len(t, keysOf(labelIndexes(x)), 4, "not before its time")
		time.Sleep(2 * unaskedFor)
		writes()
		time.Sleep(2 * unaskedFor)
		writes()
		require.Equal(t, []string{"key0 false"}, keysOf(labelIndexes(x)))
	})
}

// Selectors by a key beyond the bound do not wait for writers. Keys that are almost unique do not
// count against the bound.
func TestLabelKeysThatAreTooMany(t *testing.T) {
	tier.SkipRaced(t)
	w, err := New(itemOptions())
	require.NoError(t, err)
	const n = tooManyFrom + 300
	update(w, withLabels(n, func(i int) map[string]string {
		labels := map[string]string{"app": "x"}
		for key := range maxLabelIndexes + 1 {
			labels[fmt.Sprint("unique", key)] = fmt.Sprint(i)
		}
		return labels
	}))
	x := w.Indexer()
	for key := range maxLabelIndexes + 1 {
		ask(x, "", fmt.Sprint("unique", key))
	}
	for i := range maxLabelIndexes - 1 {
		ask(x, "", fmt.Sprint("key", i))
	}
	ask(x, "", "app")
	require.Len(t, keysOf(labelIndexes(x)), maxLabelIndexes)
	require.LessOrEqual(t, len(w.asked.keys), maxAsked)

	w.x.writing.Lock()
	defer w.x.writing.Unlock()
	ask(x, "", "one too many")
	require.Len(t, keysOf(labelIndexes(x)), maxLabelIndexes)
	w.check()
}

// If selectors wait for each other, only the first one builds an index that turns out to be almost
// unique.
func TestAWaitingSelectorBuildsNoDroppedIndex(t *testing.T) {
	o, looks := itemOptions(), 0
	o.Labels = func(obj any) map[string]string { looks++; return obj.(*item).labels }
	w, err := New(o)
	require.NoError(t, err)
	update(w, withLabels(2*tooManyFrom, func(i int) map[string]string { return map[string]string{"id": fmt.Sprint(i)} }))
	w.buildLabelIndex("id", byLabel)
	require.Equal(t, 1, crowded(w.Indexer()))
	require.Empty(t, labelIndexes(w.Indexer()))
	looks = 0
	w.buildLabelIndex("id", byLabel) // a selector that waited for the first build
	require.Zero(t, looks)
}

// The index of an almost unique label key is not built again for each selector.
func TestADroppedIndexIsNotBuiltEachTime(t *testing.T) {
	const n, keys = tooManyFrom + 1, maxLabelIndexes + 1
	o, builds := itemOptions(), 0
	o.Labels = func(obj any) map[string]string { return obj.(*item).labels }
	w, err := New(o)
	require.NoError(t, err)
	update(w, withLabels(n, func(i int) map[string]string {
		all := make(map[string]string)
		for k := range keys {
			all[fmt.Sprint("id", k)] = fmt.Sprint(i)
		}
		return all
	}))
	for range asksToBuild {
		for k := range keys {
			w.labelIndex(fmt.Sprint("id", k), byLabel)
		}
	}
	for range 2 {
		for k := range keys {
			before := w.x.live.Load()
			w.labelIndex(fmt.Sprint("id", k), byLabel)
			if w.x.live.Load() != before {
				builds++
			}
		}
	}
	require.Zero(t, builds)
}

// Of more keys than are remembered, those that selectors have asked for last are.
func TestTheKeysAskedForLastAreRemembered(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	x := w.Indexer()
	once := func(key string) { selected(x, "", requirement{key: key, op: opExists}) }
	once("often")
	for i := range maxAsked - 1 {
		once(fmt.Sprint("early", i))
	}
	once("often")
	for i := range maxAsked - 1 {
		once(fmt.Sprint("late", i))
		require.LessOrEqual(t, len(w.asked.keys), maxAsked)
	}
	once("often")
	require.Equal(t, []string{"often false"}, keysOf(labelIndexes(x)))
	for i := range maxAsked - 1 {
		require.Contains(t, w.asked.keys, labelKey{fmt.Sprint("late", i), byLabel})
	}
}
