package indexer

import (
	"math/bits"
	"strings"
)

// gather returns the results of the searches, each once, and their keys if the searches have keys.
// It holds no lock, because it compares snapshots and calls the program's functions.
func (x *store) gather(searches []search) (found Snapshot[any], keys []Key) {
	if len(searches) == 1 && searches[0].isDone() {
		return *searches[0].lists[0], searches[0].keys
	}
	var seen objectSet
	if len(searches) > 1 {
		seen.grow(sizeOf(searches))
	}
	for i := range searches {
		s := &searches[i]
		x.results(s, func(stored any, at int) {
			if len(searches) > 1 && !seen.add(stored) {
				return
			}
			found.add(stored)
			if s.keys != nil {
				key := s.keys[at] // in one string with the keys of others
				keys = append(keys, Key{key.Namespace, strings.Clone(key.Name)})
			}
		})
	}
	return found, keys
}

// isDone reports whether the results of a search are one list as it is.
func (s *search) isDone() bool {
	return len(s.lists) == 1 && len(s.others) == 0 && !s.isChecked()
}

func (s *search) isChecked() bool { return len(s.checks) > 0 || s.namespace != "" }

// results calls yield with each result of a search, and with its place in the search's lists if
// keys are wanted.
func (x *store) results(s *search, yield func(stored any, at int)) {
	if len(s.others) == 1 && s.keys == nil { // one pass fewer than for more terms
		met := s.candidates()
		for _, l := range s.others[0] {
			for stored := range l.stored {
				if met.raise(stored, 0) && x.passes(s, stored) {
					yield(stored, 0)
				}
			}
		}
		return
	}
	met := s.intersect()
	at := 0
	for _, l := range s.lists {
		for stored := range l.stored {
			if (len(s.others) == 0 || met.count(stored) == len(s.others)) && x.passes(s, stored) {
				yield(stored, at)
			}
			at++
		}
	}
}

// passes reports whether an object meets the conditions of a search that no list answers.
func (x *store) passes(s *search, stored any) bool {
	return (s.namespace == "" || x.options.Namespace(stored) == s.namespace) && x.meets(stored, s.checks)
}

// intersect counts for each object in the lists of a search how many of the other terms it meets.
func (s *search) intersect() (met objectSet) {
	if len(s.others) == 0 {
		return met
	}
	met = s.candidates()
	for n, lists := range s.others {
		for _, l := range lists {
			for stored := range l.stored {
				met.raise(stored, int32(n)) //nolint:gosec // few terms
			}
		}
	}
	return met
}

// candidates returns the objects in the lists of a search.
func (s *search) candidates() (all objectSet) {
	all.grow(s.size())
	for _, l := range s.lists {
		for stored := range l.stored {
			all.add(stored)
		}
	}
	return all
}

// size returns the number of objects in the lists of a search.
func (s *search) size() (n int) {
	for _, l := range s.lists {
		n += l.size
	}
	return n
}

// mostRoom bounds the space reserved for the results of several searches.
const mostRoom = 1 << 14

// sizeOf returns how many results some searches may have together, up to a bound.
func sizeOf(searches []search) (n int) {
	for i := range searches {
		n += searches[i].size()
	}
	return min(n, mostRoom)
}

// objectSet is a set of objects with a count for each. It identifies objects by the words of their
// interface values. Two objects of a store differ in these, unless a program stores the same object
// under several keys, or equal values that are not pointers.
//
// Invariant: the number of slots is a power of two, or zero, and at most three quarters are used.
type objectSet struct {
	slots []slotted
	used  int
}

type slotted struct {
	word  uintptr // the data of an object that a snapshot keeps in memory; 0 in an empty slot
	kind  uint32  // the last bits of its type's address, since 1 and true, for instance, have the same data
	count int32
}

// add adds an object. It returns false if the set already has it.
func (s *objectSet) add(stored any) bool {
	if 4*s.used >= 3*len(s.slots) {
		s.grow(2 * s.used)
	}
	word, kind := wordsOf(stored)
	at := s.find(word, kind)
	if at.word != 0 {
		return false
	}
	at.word, at.kind = word, kind
	s.used++
	return true
}

// raise increments the count of an object if the count is from. It reports whether it was.
func (s *objectSet) raise(stored any, from int32) bool {
	at := s.find(wordsOf(stored))
	if at.word == 0 || at.count != from {
		return false
	}
	at.count++
	return true
}

// count returns the count of an object in the set.
func (s *objectSet) count(stored any) int { return int(s.find(wordsOf(stored)).count) }

// wordsOf returns the words that a slot has for an object. No object is at address 1, which stands
// for nil.
func wordsOf(stored any) (word uintptr, kind uint32) {
	s := slotOf(stored)
	return max(uintptr(s.data), 1), uint32(uintptr(s.kind)) //nolint:gosec // the last bits
}

// find returns the slot of an object, or the empty slot where it goes. The highest bits of the
// product depend on all bits of the word.
func (s *objectSet) find(word uintptr, kind uint32) *slotted {
	last := uint64(len(s.slots) - 1) //nolint:gosec // there are slots
	i := uint64(word) * 0x9e3779b97f4a7c15 >> (64 - bits.Len64(last))
	for s.slots[i].word != 0 && (s.slots[i].word != word || s.slots[i].kind != kind) {
		i = (i + 1) & last
	}
	return &s.slots[i]
}

// grow makes room for a number of objects.
func (s *objectSet) grow(size int) {
	old := s.slots
	s.slots = make([]slotted, 1<<bits.Len(uint(max(size, 32)*4/3))) //nolint:gosec // not negative
	for _, of := range old {
		if of.word != 0 {
			*s.find(of.word, of.kind) = of
		}
	}
}
