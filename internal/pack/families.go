package pack

import (
	"hash/maphash"
	"maps"
	"strings"
	"weak"
)

// families finds the base for an object by its family: the objects of one namespace whose names have the same
// prefix. A family is removed when its base is garbage-collected. All are removed if there are too many.
type families struct {
	seed    maphash.Seed
	byHash  map[uint64]family
	sweepAt int // number of families at which those without a base are removed
}

// A family has a base, and replaces it if it does not fit: the object may have been pending, or be out of date.
// A cooldown prevents each object from becoming the base if none fits.
type family struct {
	base     weak.Pointer[Object]
	sole     uint32 // hash of the only name in the family, which is the base's; 0 if there are several
	misfits  int8   // consecutive objects that the base did not fit
	cooldown int8   // number of objects before the base may be replaced
	backoff  backoff
}

const (
	maxMisfits      = 2
	cooldownObjects = 8
	maxFamilies     = 1 << 17
	familySize      = 40 // approximate bytes of a family in the map
	soleRatio       = 4  // see record
	anyNamespace    = "*"
)

// hash returns the hash of an object's family.
func (s *families) hash(namespace, name string) uint64 {
	type key struct{ namespace, prefix string }
	return maphash.Comparable(s.seed, key{namespace, prefix(name)})
}

// prefix returns a name without its last part. For a pod, that is the name of its workload.
func prefix(name string) string {
	if i := strings.LastIndexAny(name, "-."); i >= 0 {
		return name[:i]
	}
	return name
}

// base returns the base of a family, or nil.
func (s *families) base(hash uint64) *Object { return s.byHash[hash].base.Value() }

// needsBase reports whether the next object should replace the base of its family.
func (s *families) needsBase(hash uint64) bool {
	f := s.byHash[hash]
	return f.misfits >= maxMisfits && f.cooldown == 0
}

// attempt reports whether to try to pack the next object of a family.
func (s *families) attempt(hash uint64) bool {
	f := s.byHash[hash]
	if f.backoff.attempt() {
		return true
	}
	s.byHash[hash] = f
	return false
}

// record records the difference of an object to its family's base. It reports whether the base fits, whether
// the object is the sole member of its family, and whether the base must stay. The base of a sole member is an
// earlier version of the same object, which no other object needs. It fits only if the difference is less than
// the base divided by soleRatio.
func (s *families) record(hash uint64, name string, d, data []byte) (fits, sole, keepBase bool) {
	f := s.byHash[hash]
	fits = !isPoor(d, data, familyRatio)
	if sole = f.sole == s.nameHash(name); sole {
		base := f.base.Value()
		fits = d != nil && base != nil && len(d)*soleRatio <= len(base.content())
	} else {
		f.sole = 0
	}
	f.misfits, f.cooldown = min(f.misfits+1, maxMisfits), max(f.cooldown-1, 0)
	if fits {
		f.misfits = 0
	}
	f.backoff.record(!isPoor(d, data, payRatio))
	s.byHash[hash] = f
	return fits, sole, f.cooldown > 0 && !sole
}

// nameHash returns the hash of a name. It is never 0.
func (s *families) nameHash(name string) uint32 { return uint32(maphash.String(s.seed, name)) | 1 }

// set sets or replaces the base of a family. The name is the base's own, or empty for a base from another family.
func (s *families) set(hash uint64, base *Object, name string) {
	f := s.byHash[hash]
	sole := f.sole != 0 || f.base.Value() == nil
	f = family{base: weak.Make(base), backoff: f.backoff}
	if s.base(hash) != nil {
		f.cooldown = cooldownObjects
	}
	if sole && name != "" {
		f.sole = s.nameHash(name)
	}
	s.byHash[hash] = f
	if len(s.byHash) < s.sweepAt {
		return
	}
	maps.DeleteFunc(s.byHash, func(_ uint64, f family) bool { return f.base.Value() == nil })
	if len(s.byHash) > maxFamilies {
		clear(s.byHash)
	}
	s.sweepAt = max(16, 2*len(s.byHash))
}

// backoff skips the slow search for equal bytes while it does not pay. A family has a backoff, and so do the
// objects without a base. After maxFailures searches in a row that did not pay, the next skipObjects objects are
// stored raw. From then on, retryFailures such searches are enough, until one pays.
type backoff struct {
	failures uint8 // consecutive searches that did not pay
	skip     uint8 // number of objects still to skip
}

const (
	maxFailures   = 60
	retryFailures = 15
	skipObjects   = 240
)

// attempt reports whether to try to pack the next object.
func (b *backoff) attempt() bool {
	if b.skip == 0 {
		return true
	}
	b.skip--
	return false
}

// record records whether packing an object paid.
func (b *backoff) record(paid bool) {
	if paid {
		*b = backoff{}
	} else if b.failures++; b.failures == maxFailures {
		*b = backoff{maxFailures - retryFailures, skipObjects}
	}
}
