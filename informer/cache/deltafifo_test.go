package cache

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// keyedObject is an object with another key than an API object's.
type keyedObject struct {
	key   string
	value int
}

func thingKey(obj any) (string, error) {
	t, ok := obj.(keyedObject)
	if !ok {
		return "", errors.New("not a thing")
	}
	return t.key, nil
}

// knownThings has the known objects of a queue, in order.
type knownThings []keyedObject

func (k knownThings) ListKeys() []string {
	keys := make([]string, len(k))
	for i := range k {
		keys[i] = k[i].key
	}
	return keys
}

func (k knownThings) GetByKey(key string) (any, bool, error) {
	for _, t := range k {
		if t.key == key {
			return t, true, nil
		}
	}
	return nil, false, nil
}

func newThings(known ...keyedObject) *DeltaFIFO {
	o := DeltaFIFOOptions{KeyFunction: thingKey, EmitDeltaTypeReplaced: true}
	if known != nil {
		o.KnownObjects = knownThings(known)
	}
	return NewDeltaFIFOWithOptions(o)
}

// popOne pops one key and returns its deltas.
func popOne(t *testing.T, f Queue) Deltas {
	t.Helper()
	got, err := f.Pop(func(any, bool) error { return nil })
	require.NoError(t, err)
	return got.(Deltas)
}

// B25: deltas of a key are collected until the key is popped. If two deletes are consecutive, the one with
// the final state remains.
func TestContract_B25_TheDeltasOfAKeyGather(t *testing.T) {
	f := newThings()
	lost := DeletedFinalStateUnknown{Key: "a", Obj: keyedObject{"a", 1}}
	require.NoError(t, f.Add(keyedObject{"a", 1}))
	require.NoError(t, f.Add(keyedObject{"b", 1}))
	require.NoError(t, f.Update(keyedObject{"a", 2}))
	require.NoError(t, f.Update(keyedObject{"a", 2}))
	require.NoError(t, f.Delete(lost))
	require.NoError(t, f.Delete(keyedObject{"a", 3}))
	require.NoError(t, f.Delete(lost))
	require.NoError(t, f.Delete(keyedObject{"a", 4}))
	require.Equal(t, Deltas{
		{Type: Added, Object: keyedObject{"a", 1}},
		{Type: Updated, Object: keyedObject{"a", 2}},
		{Type: Updated, Object: keyedObject{"a", 2}},
		{Type: Deleted, Object: keyedObject{"a", 3}},
	}, popOne(t, f))
	require.NoError(t, f.Add(keyedObject{"a", 5}))
	require.Equal(t, Deltas{{Type: Added, Object: keyedObject{"b", 1}}}, popOne(t, f), "nobody jumps the line")
	require.Equal(t, Deltas{{Type: Added, Object: keyedObject{"a", 5}}}, popOne(t, f))
}

// B26: Replace queues the listed objects, and then tombstones of the queued or known keys that are not
// listed, with the newest objects.
func TestContract_B26_ReplaceQueuesDeletesForWhatIsNotListed(t *testing.T) {
	for _, emit := range []bool{true, false} {
		listed := Sync
		if emit {
			listed = Replaced
		}
		f := NewDeltaFIFOWithOptions(DeltaFIFOOptions{
			KeyFunction: thingKey, EmitDeltaTypeReplaced: emit,
			KnownObjects: knownThings{{"known", 1}, {"both", 1}, {"listed", 1}, {"gone", 1}},
		})
		require.NoError(t, f.Update(keyedObject{"queued", 1}))
		require.NoError(t, f.Update(keyedObject{"both", 2}))
		require.NoError(t, f.Delete(keyedObject{"gone", 2}))
		require.NoError(t, f.Replace([]any{keyedObject{"listed", 2}, keyedObject{"new", 1}}, "7"))
		require.NoError(t, f.Replace([]any{keyedObject{"listed", 2}, keyedObject{"new", 1}}, "7"))
		tombstone := func(last keyedObject) Delta {
			return Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: last.key, Obj: last}}
		}
		want := []Deltas{
			{{Type: Updated, Object: keyedObject{"queued", 1}}, tombstone(keyedObject{"queued", 1})},
			{{Type: Updated, Object: keyedObject{"both", 2}}, tombstone(keyedObject{"both", 2})},
			{{Type: Deleted, Object: keyedObject{"gone", 2}}},
			{{Type: listed, Object: keyedObject{"listed", 2}}, {Type: listed, Object: keyedObject{"listed", 2}}},
			{{Type: listed, Object: keyedObject{"new", 1}}, {Type: listed, Object: keyedObject{"new", 1}}},
			{tombstone(keyedObject{"known", 1})},
		}
		for _, deltas := range want {
			require.Equal(t, deltas, popOne(t, f))
		}
	}
}

// A Replace with an object that has no key, or cannot be transformed, queues nothing.
func TestAReplaceThatFailsQueuesNothing(t *testing.T) {
	f := newThings(keyedObject{"known", 1})
	require.ErrorContains(t, f.Replace([]any{keyedObject{"a", 1}, "no thing"}, "1"), "not a thing")
	require.ErrorAs(t, f.Replace([]any{"no thing"}, "1"), &KeyError{})
	require.ErrorAs(t, f.Add("no thing"), &KeyError{})
	require.ErrorAs(t, f.Delete("no thing"), &KeyError{})
	f.Close()
	_, err := f.Pop(nil)
	require.ErrorIs(t, err, ErrFIFOClosed, "nothing is queued")
}

// B27: a delete of an unknown key is ignored, and a resync ignores keys with queued deltas.
func TestContract_B27_DeletesOfNothingAndResyncs(t *testing.T) {
	f := newThings(keyedObject{"known", 1}, keyedObject{"busy", 1})
	require.NoError(t, f.Delete(keyedObject{"nope", 1}))
	require.NoError(t, f.Update(keyedObject{"busy", 2}))
	require.NoError(t, f.Resync())
	require.NoError(t, f.Delete(keyedObject{"busy", 3}))
	require.Equal(t, Deltas{
		{Type: Updated, Object: keyedObject{"busy", 2}}, {Type: Deleted, Object: keyedObject{"busy", 3}},
	}, popOne(t, f))
	require.Equal(t, Deltas{{Type: Sync, Object: keyedObject{"known", 1}}}, popOne(t, f))
	require.NoError(t, f.Delete(keyedObject{"known", 2}))
	require.Equal(t, Deltas{{Type: Deleted, Object: keyedObject{"known", 2}}}, popOne(t, f))

	alone := newThings()
	require.NoError(t, alone.Resync())
	require.NoError(t, alone.Delete(keyedObject{"nope", 1}))
	alone.Close()
	_, err := alone.Pop(nil)
	require.ErrorIs(t, err, ErrFIFOClosed)
}

// B28: the queue is synced, and Done is closed, only once the initial keys are processed.
func TestContract_B28_SyncedOnceTheInitialKeysWereProcessed(t *testing.T) {
	f := newThings(keyedObject{"gone", 1})
	require.False(t, f.HasSynced())
	require.NoError(t, f.Replace([]any{keyedObject{"a", 1}, keyedObject{"a", 2}, keyedObject{"b", 1}}, "1"))
	require.NoError(t, f.Add(keyedObject{"later", 1}))
	failed := errors.New("failed")
	for range 3 {
		require.False(t, f.HasSynced())
		_, err := f.Pop(func(_ any, initial bool) error {
			require.True(t, initial)
			require.False(t, IsDone(f.HasSyncedChecker()), "it is being processed")
			return failed
		})
		require.ErrorIs(t, err, failed)
	}
	require.True(t, f.HasSynced() && IsDone(f))
	_, err := f.Pop(func(_ any, initial bool) error {
		require.False(t, initial)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "DeltaFIFO", f.Name())
}

func TestAQueueIsSyncedAtOnceWithoutAnInitialList(t *testing.T) {
	for name, use := range map[string]func(f *DeltaFIFO) error{
		"add":           func(f *DeltaFIFO) error { return f.Add(keyedObject{"a", 1}) },
		"update":        func(f *DeltaFIFO) error { return f.Update(keyedObject{"a", 1}) },
		"delete":        func(f *DeltaFIFO) error { return f.Delete(keyedObject{"a", 1}) },
		"an empty list": func(f *DeltaFIFO) error { return f.Replace(nil, "1") },
		"add, then list": func(f *DeltaFIFO) error {
			_ = f.Add(keyedObject{"a", 1})
			return f.Replace([]any{keyedObject{"b", 1}}, "1")
		},
	} {
		f := newThings()
		require.NoError(t, use(f), name)
		require.True(t, f.HasSynced(), name)
	}
}

// B29, D13: the transform runs once for each object, without the queue's lock. It does not run for tombstones
// and resyncs.
func TestContract_B29_D13_TheTransformOfAQueue(t *testing.T) {
	calls := 0
	var f *DeltaFIFO
	f = NewDeltaFIFOWithOptions(DeltaFIFOOptions{
		KeyFunction: thingKey, KnownObjects: knownThings{{"known", 1}, {"gone", 1}},
		Transformer: func(obj any) (any, error) {
			calls++
			f.IsClosed() // takes the lock
			if obj.(keyedObject).value < 0 {
				return nil, errPoison
			}
			return keyedObject{obj.(keyedObject).key, obj.(keyedObject).value + 100}, nil
		},
	})
	require.NotNil(t, f.Transformer())
	require.NoError(t, f.Resync())
	require.Zero(t, calls)
	require.NoError(t, f.Replace([]any{keyedObject{"known", 2}}, "1"))
	require.NoError(t, f.Delete(DeletedFinalStateUnknown{Key: "known", Obj: keyedObject{"known", 102}}))
	require.NoError(t, f.Add(keyedObject{"a", 1}))
	require.NoError(t, f.Update(keyedObject{"a", 2}))
	require.NoError(t, f.Delete(keyedObject{"a", 3}))
	require.Equal(t, 4, calls)
	require.Equal(t, Deltas{
		{Type: Sync, Object: keyedObject{"known", 1}},
		{Type: Sync, Object: keyedObject{"known", 102}},
		{Type: Deleted, Object: DeletedFinalStateUnknown{Key: "known", Obj: keyedObject{"known", 102}}},
	}, popOne(t, f))
	require.Equal(t, keyedObject{"gone", 1}, popOne(t, f).Newest().Object.(DeletedFinalStateUnknown).Obj)
	require.Equal(t, keyedObject{"a", 103}, popOne(t, f).Newest().Object)
	require.ErrorIs(t, f.Add(keyedObject{"a", -1}), errPoison)
	require.ErrorIs(t, f.Replace([]any{keyedObject{"b", 1}, keyedObject{"a", -1}}, "1"), errPoison)
	require.NoError(t, f.Replace(nil, "1"))
}

// The object of a Delete is transformed without the queue's lock. If a relist has queued the deletion in the
// meantime, and the consumer has processed it, Delete queues nothing.
func TestContract_B27_ADeletionIsQueuedOnce(t *testing.T) {
	known := NewStore(thingKey)
	require.NoError(t, known.Add(keyedObject{"a", 1}))
	var f *DeltaFIFO
	f = NewDeltaFIFOWithOptions(DeltaFIFOOptions{
		KeyFunction: thingKey, KnownObjects: known,
		Transformer: func(obj any) (any, error) {
			require.NoError(t, f.Replace(nil, "2"))
			require.Equal(t, Deleted, popOne(t, f).Newest().Type)
			return obj, known.Delete(obj)
		},
	})
	require.NoError(t, f.Delete(keyedObject{"a", 2}))
	f.Close()
	_, err := f.Pop(func(any, bool) error { return nil })
	require.ErrorIs(t, err, ErrFIFOClosed)
}

func TestContract_T21_KeysOfAQueue(t *testing.T) {
	f := newThings()
	for _, k := range []string{"a/b/c", "/x", "", "a/"} {
		require.NoError(t, f.Add(keyedObject{k, 1}))
	}
	for _, k := range []string{"a/b/c", "/x", "", "a/"} {
		deltas := popOne(t, f)
		key, err := f.KeyOf(deltas)
		require.NoError(t, err)
		require.Equal(t, k, key)
	}
	key, err := f.KeyOf(Deltas{{Object: DeletedFinalStateUnknown{Key: "D"}}})
	require.NoError(t, err)
	require.Equal(t, "D", key)
	_, err = f.KeyOf(Deltas{})
	require.ErrorIs(t, err, ErrZeroLengthDeltasObject)
	byName := NewDeltaFIFOWithOptions(DeltaFIFOOptions{})
	require.NoError(t, byName.Add(kit.Pod("a", "1")))
	key, err = byName.KeyOf(popOne(t, byName))
	require.NoError(t, err)
	require.Equal(t, "default/a", key, "the default")
}

// B18: Close wakes waiting consumers. The queued keys can still be popped.
func TestContract_B18_CloseOfAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newThings()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := f.Pop(func(any, bool) error { return nil })
				if err != nil && !errors.Is(err, ErrFIFOClosed) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		require.NoError(t, f.Add(keyedObject{"a", 1}), "one of them has it")
		synctest.Wait()
		f.Close()
		wg.Wait()
		require.True(t, f.IsClosed())
		require.NoError(t, f.Add(keyedObject{"b", 1}))
		popOne(t, f)
		_, err := f.Pop(nil)
		require.ErrorIs(t, err, ErrFIFOClosed)
		require.ErrorIs(t, f.PopBatch(nil, nil), ErrFIFOClosed)
	})
}

// Keys with one delta each are popped together, and the initial keys in their own batches.
func TestBatchesOfAQueue(t *testing.T) {
	f := newThings()
	require.NoError(t, f.Replace([]any{keyedObject{"a", 1}, keyedObject{"b", 1}}, "1"))
	require.NoError(t, f.Add(keyedObject{"c", 1}))
	require.NoError(t, f.Add(keyedObject{"d", 1}))
	require.NoError(t, f.Update(keyedObject{"d", 2}))
	for n := range maxBatch + 1 {
		require.NoError(t, f.Add(keyedObject{fmt.Sprint("e", n), 1}))
	}
	var got []string
	note := func(n int, initial bool) error {
		got = append(got, fmt.Sprint(n, initial))
		return nil
	}
	for range 5 {
		require.NoError(t, f.PopBatch(
			func(deltas []Delta, initial bool) error { return note(len(deltas), initial) },
			func(obj any, initial bool) error { return note(-len(obj.(Deltas)), initial) },
		))
	}
	require.Equal(t, []string{"2 true", "-1 false", "-2 false", fmt.Sprint(maxBatch, " false"), "-1 false"}, got)
}

// A panic of the processing function leaves the queue usable.
func TestAPanicWhileProcessing(t *testing.T) {
	f := newThings()
	require.NoError(t, f.Replace([]any{keyedObject{"a", 1}, keyedObject{"b", 1}}, "1"))
	require.Panics(t, func() { _, _ = f.Pop(func(any, bool) error { panic(errPoison) }) })
	popOne(t, f)
	require.True(t, f.HasSynced())
}
