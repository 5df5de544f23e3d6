package pack

// trial stops searching for equal bytes where there are none, which takes long. A kind is tried until
// so many objects in a row had little in common with their bases (patience, or impatience after a rest
// that nothing has paid for since). Then objects are kept as they are, for a rest of restingFor.
type trial struct {
	poor      int // objects in a row
	rest      int // objects that are not tried; 0 while trying
	impatient bool
}

const (
	patience   = 256
	impatience = 64
	restingFor = 1024
)

// packs reports whether the next object is to be packed.
func (t *trial) packs() bool {
	if t.rest == 0 {
		return true
	}
	t.rest--
	return false
}

// note notes whether packing an object has paid.
func (t *trial) note(paid bool) {
	if paid {
		*t = trial{}
		return
	}
	t.poor++
	if t.poor == patience || t.impatient && t.poor == impatience {
		*t = trial{rest: restingFor, impatient: true}
	}
}
