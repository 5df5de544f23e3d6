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
	sole uint32 // the hash of the name that all objects have had, the base's, or 0
	poor int8   // objects in a row that the base did not fit
	rest int8   // objects for which the base stays, whatever fits
	pace pace
}

const (
	mostPoor     = 2
	restFor      = 8
	mostFamilies = 1 << 17
	familySize   = 40 // bytes in a map, about
	solePart     = 4  // the part of a base that a difference to the object's own earlier version may have
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

// tries reports whether the next object of a family is to be packed.
func (s *families) tries(hash uint64) bool {
	f := s.of[hash]
	if f.pace.tries() {
		return true
	}
	s.of[hash] = f
	return false
}

// note notes the difference of an object to the base of its family, and reports whether the base fits, whether the
// object is the only one of its family, and whether the base stays. The base of a sole object is that object's own
// earlier version, which nothing else needs. So it fits only if the difference takes little beside it.
func (s *families) note(hash uint64, name string, d, data []byte) (fits, sole, stays bool) {
	f := s.of[hash]
	fits = !poor(d, data, familyPart)
	if sole = f.sole == s.nameHash(name); sole {
		base := f.base.Value()
		fits = d != nil && base != nil && len(d)*solePart <= len(base.view().content())
	} else {
		f.sole = 0
	}
	f.poor, f.rest = min(f.poor+1, mostPoor), max(f.rest-1, 0)
	if fits {
		f.poor = 0
	}
	f.pace.note(!poor(d, data, anyPart))
	s.of[hash] = f
	return fits, sole, f.rest > 0 && !sole
}

// nameHash returns the hash of a name, which is not 0.
func (s *families) nameHash(name string) uint32 { return uint32(maphash.String(s.seed, name)) | 1 }

// set gives a family its base, or another one. The name is the base's if it is the family's only object, or empty.
func (s *families) set(hash uint64, base *Object, name string) {
	f := s.of[hash]
	sole := f.sole != 0 || f.base.Value() == nil
	f = family{base: weak.Make(base), pace: f.pace}
	if s.base(hash) != nil {
		f.rest = restFor
	}
	if sole && name != "" {
		f.sole = s.nameHash(name)
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

// pace stops searching for equal bytes where there are none, which takes long. It is a family's, or that of the
// objects without a base. After so many useless searches in a row (patience), the next objects are kept as they are
// (restingFor), and then fewer are tried, until one search pays.
type pace struct {
	useless uint8 // searches in a row
	resting uint8 // objects that are not tried
}

const (
	patience   = 60
	impatience = 15
	restingFor = 240
)

// tries reports whether the next object is to be packed.
func (p *pace) tries() bool {
	if p.resting == 0 {
		return true
	}
	p.resting--
	return false
}

// note notes whether packing an object has paid. It returns true at the first that has after many that have not.
func (p *pace) note(paid bool) (again bool) {
	if paid {
		again = p.useless >= patience-impatience
		*p = pace{}
		return again
	}
	if p.useless++; p.useless == patience {
		*p = pace{patience - impatience, restingFor}
	}
	return false
}
