package indexer

// Codec lets a store hold something else in the place of an object, which takes
// less memory. Readers get the object decoded, each time that they are handed it.
//
// The write side tells of everything as it is stored, and decodes nothing: a [Tx] and
// its [Snapshot], a [Staging], a [Visitor]. Index functions and labels are told the
// object that was put. The store decodes for itself in three cases: to fill an index
// that is added, to check a selector that no index answers, and to index what comes
// back as it was stored (see [Staging.PutStored]; another writer may have replaced
// what a Staging had found unchanged).
//
// Any goroutine calls the two methods, with locks held: they must be quick, must not
// fail, and must not call the indexer.
type Codec interface {
	// Encode returns what is stored of an object, of the caller's own type: a pointer,
	// another one for each call.
	Encode(obj any) (stored any)
	// Decode returns the object of what is stored.
	Decode(stored any) (obj any)
}

// Decoder makes objects of what a store holds. It is nil where that is the objects
// themselves: whoever reads many of them asks once which it is.
type Decoder func(stored any) (obj any)

// Object returns the object of what is stored.
func (d Decoder) Object(stored any) any {
	if d == nil {
		return stored
	}
	return d(stored)
}

// Decoder returns what makes objects of what the store holds.
func (w *Writer) Decoder() Decoder { return w.x.decode }

// Encode returns what the store would hold of an object, for the caller to keep.
func (w *Writer) Encode(obj any) (stored any) {
	if c := w.x.options.Codec; c != nil {
		return c.Encode(obj)
	}
	return obj
}

// Stored returns what the store holds under a key, as [Tx.Get] does. It takes no lock.
func (w *Writer) Stored(key Key) (stored any, ok bool) {
	if r := w.x.live.Load().records.get(key); r != nil {
		return r.value.stored(), true
	}
	return nil, false
}
