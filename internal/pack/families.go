package pack

import (
	"hash/maphash"
	"maps"
	"strings"
	"weak"
)

// families finds the base of an object's family: of the objects of its namespace whose names begin
// alike. A family is forgotten when its base is dead, and all are if there are too many that live.
type families struct {
	seed    maphash.Seed
	of      map[uint64]family
	sweepAt int // the number of families at which those are removed that are dead
}

// A family remembers how well its base fits: it was still pending, or has become old, if it does not.
// But if nothing fits, not each object becomes the base.
type family struct {
	base weak.Pointer[Object]
	poor int8 // objects in a row that the base did not fit
	rest int8 // objects for which the base stays, whatever fits
}

const (
	mostPoor     = 2
	restFor      = 8
	mostFamilies = 1 << 17
	familySize   = 40 // bytes in a map, about
	anyNamespace = "*"
)

// hash returns the hash of an object's family.
func (s *families) hash(namespace, name string) uint64 {
	type key struct{ namespace, prefix string }
	return maphash.Comparable(s.seed, key{namespace, prefix(name)})
}

// prefix returns a name without its last part: of a pod's, the name of its workload.
func prefix(name string) string {
	if i := strings.LastIndexAny(name, "-."); i >= 0 {
		return name[:i]
	}
	return name
}

// base returns the base of a family, or nil.
func (s *families) base(hash uint64) *Object { return s.of[hash].base.Value() }

// wantBase reports whether the next object is to become the base of a family that has one.
func (s *families) wantBase(hash uint64) bool {
	f := s.of[hash]
	return f.poor >= mostPoor && f.rest == 0
}

// note notes whether the base of a family fitted an object.
func (s *families) note(hash uint64, fitted bool) {
	f := s.of[hash]
	f.poor, f.rest = min(f.poor+1, mostPoor), max(f.rest-1, 0)
	if fitted {
		f.poor = 0
	}
	s.of[hash] = f
}

// set gives a family its base, or another one.
func (s *families) set(hash uint64, base *Object) {
	f := family{base: weak.Make(base)}
	if s.base(hash) != nil {
		f.rest = restFor
	}
	s.of[hash] = f
	if len(s.of) < s.sweepAt {
		return
	}
	maps.DeleteFunc(s.of, func(_ uint64, f family) bool { return f.base.Value() == nil })
	if len(s.of) > mostFamilies {
		clear(s.of)
	}
	s.sweepAt = max(16, 2*len(s.of))
}
