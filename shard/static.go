package shard

// Assignment tells an informer its share.
type Assignment interface {
	// Share returns the share. An informer asks before a run begins, on any goroutine, also if the run is then
	// refused, and keeps the answer until the run ends. Share must not block, nor call a factory of informers, which
	// may be starting this one. The zero Set, which has no field, is refused with ErrField.
	Share() Set
}

// Static returns an Assignment of a share that never changes.
func Static(s Set) Assignment { return static{s} }

type static struct{ share Set }

func (s static) Share() Set { return s.share }
