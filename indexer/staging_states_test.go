package indexer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// These are the states of a key in a replacement of source 0, with the calls that lead to them. Object
// 1 is stored, 2 is put, 3 is put again, and 9 is another writer's.
var (
	stagedKey    = Key{"a", "n"}
	stagedStates = map[string]func(w *Writer, s *Staging){
		"unseen":    storeOne,
		"unchanged": func(w *Writer, s *Staging) { storeOne(w, s); s.Keep(stagedKey, nil) },
		"replaced":  func(w *Writer, s *Staging) { storeOne(w, s); putItem(s, 2) },
		"absent":    func(*Writer, *Staging) {},
		"added":     func(_ *Writer, s *Staging) { putItem(s, 2) },
	}
)

func storeOne(w *Writer, _ *Staging) { putPart(w, 0, 1) }

func putItem(s *Staging, serial int) { s.Put(stagedKey, &item{key: stagedKey, serial: serial}, 0) }

func putPart(w *Writer, source uint16, serial int) {
	update(w, func(tx *Tx) { tx.Put(source, stagedKey, &item{key: stagedKey, serial: serial}, 0) })
}

// inputs are the calls that may happen to a key during a replacement.
var inputs = map[string]func(w *Writer, s *Staging){
	"keep":           func(_ *Writer, s *Staging) { s.Keep(stagedKey, nil) },
	"put":            func(_ *Writer, s *Staging) { putItem(s, 3) },
	"drop":           func(_ *Writer, s *Staging) { s.Drop(stagedKey) },
	"set by hand":    func(w *Writer, _ *Staging) { putPart(w, 0, 9) },
	"unset by hand":  func(w *Writer, _ *Staging) { update(w, func(tx *Tx) { tx.Delete(stagedKey) }) },
	"another's put":  func(w *Writer, _ *Staging) { putPart(w, 1, 9) },
	"all replaced":   func(w *Writer, _ *Staging) { replaceAll(w, 9) },
	"all taken out":  func(w *Writer, _ *Staging) { replaceAll(w) },
	"another's list": func(w *Writer, _ *Staging) { replacePart(w, 1, 9) },
}

func replaceAll(w *Writer, serials ...int) {
	s := w.StageAll()
	for _, n := range serials {
		putItem(s, n)
	}
	s.Commit("", Visitor{})
}

func replacePart(w *Writer, source uint16, serial int) {
	s := w.Stage(source)
	putItem(s, serial)
	s.Commit("", Visitor{})
}

// outcomes is the table of Staging: the change that Commit makes after an input in a state. A dash
// is no change, "-9" the deletion of 9, "+2" an addition, "1>2" an update. Another source's object
// stays unless the replacement holds the key.
var outcomes = map[string]map[string]string{
	"unseen": {
		"keep": "-", "put": "1>3", "drop": "-1", "set by hand": "-9", "unset by hand": "-",
		"another's put": "-", "all replaced": "-9", "all taken out": "-", "another's list": "-",
	},
	"unchanged": {
		"keep": "-", "put": "1>3", "drop": "-1", "set by hand": "-", "unset by hand": "-",
		"another's put": "-", "all replaced": "-", "all taken out": "-", "another's list": "-",
	},
	"replaced": {
		"keep": "-", "put": "1>3", "drop": "-1", "set by hand": "9>2", "unset by hand": "+2",
		"another's put": "9>2", "all replaced": "9>2", "all taken out": "+2", "another's list": "9>2",
	},
	"absent": {
		"keep": "-", "put": "+3", "drop": "-", "set by hand": "-9", "unset by hand": "-",
		"another's put": "-", "all replaced": "-9", "all taken out": "-", "another's list": "-",
	},
	"added": {
		"keep": "+2", "put": "+3", "drop": "-", "set by hand": "9>2", "unset by hand": "+2",
		"another's put": "9>2", "all replaced": "9>2", "all taken out": "+2", "another's list": "9>2",
	},
}

// The outcome for a key does not depend on other keys.
func TestStagingHasAStateForEachKey(t *testing.T) {
	tier.SkipRaced(t)
	others := map[string]func(w *Writer, s *Staging){
		"alone":             func(*Writer, *Staging) {},
		"others put twice":  func(_ *Writer, s *Staging) { putOther(s, "x"); putOther(s, "x"); putOther(s, "y") },
		"others dropped":    func(_ *Writer, s *Staging) { putOther(s, "x"); s.Drop(Key{"a", "x"}) },
		"others kept":       func(w *Writer, s *Staging) { storeOther(w, "x"); s.Keep(Key{"a", "x"}, nil) },
		"others by hand":    func(w *Writer, _ *Staging) { storeOther(w, "x") },
		"others by another": func(w *Writer, s *Staging) { storeOther(w, "x"); s.Keep(Key{"a", "x"}, nil); replacePartOf(w, "x") },
		"very many others": func(_ *Writer, s *Staging) {
			for i := range rebuildAbove + 1 {
				putOther(s, fmt.Sprint("many", i))
			}
		},
	}
	for state, enter := range stagedStates {
		for input, happens := range inputs {
			for other, meanwhile := range others {
				t.Run(fmt.Sprintf("%s, %s, %s", state, input, other), func(t *testing.T) {
					w, err := New(itemOptions())
					require.NoError(t, err)
					s := w.Stage(0)
					meanwhile(w, s)
					enter(w, s)
					happens(w, s)
					require.Equal(t, outcomes[state][input], committed(s))
				})
			}
		}
	}
}

func putOther(s *Staging, name string) { s.Put(Key{"a", name}, &item{key: Key{"a", name}}, 0) }

func storeOther(w *Writer, name string) {
	key := Key{"a", name}
	update(w, func(tx *Tx) { tx.Put(0, key, &item{key: key}, 0) })
}

func replacePartOf(w *Writer, name string) {
	s := w.Stage(1)
	putOther(s, name)
	s.Commit("", Visitor{})
}

// committed returns the change that Commit makes to the key.
func committed(s *Staging) string {
	recorded := ""
	s.Commit("", Visitor{
		Deleted: func(key Key, last any) {
			if key == stagedKey {
				recorded += fmt.Sprintf("-%d", asItem(last).serial)
			}
		},
		Put: func(key Key, old, obj any, replaced bool) {
			switch {
			case key != stagedKey:
			case replaced:
				recorded += fmt.Sprintf("%d>%d", asItem(old).serial, asItem(obj).serial)
			default:
				recorded += fmt.Sprintf("+%d", asItem(obj).serial)
			}
		},
	})
	if recorded == "" {
		return "-"
	}
	return recorded
}

// Staged returns what a commit would store.
func TestStaged(t *testing.T) {
	for state, reach := range stagedStates {
		for input, do := range inputs {
			t.Run(state+", "+input, func(t *testing.T) {
				w, err := New(Options{})
				require.NoError(t, err)
				s := w.Stage(0)
				reach(w, s)
				do(w, s)
				staged, _, ok := s.Staged(stagedKey)
				s.Commit("", Visitor{})
				stored, left := w.Stored(stagedKey)
				if left {
					update(w, func(tx *Tx) {
						now, _ := tx.Get(stagedKey)
						left = now.Source == 0
					})
				}
				require.Equal(t, left, ok)
				if ok {
					require.Equal(t, stored, staged)
				}
			})
		}
	}
}
