package shard

// Assignment tells an informer its share.
type Assignment interface {
	// Share returns the share. An informer calls it on any goroutine before its run begins, even if
	// the run is then refused, and keeps the result until the run ends. Share must not block. It
	// must not call an informer factory, which may be starting this informer. The informer refuses
	// the zero Set, which has no field, with ErrField.
	Share() Set
}

// Static returns an Assignment of a share that never changes.
func Static(s Set) Assignment { return static{s} }

type static struct{ share Set }

func (s static) Share() Set { return s.share }
