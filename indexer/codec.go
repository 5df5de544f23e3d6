package indexer

// Codec stores objects in another form, which takes less memory. Readers get the object decoded.
//
// The write side works with the stored form, and takes objects in either: a [Tx] and its [Snapshot], a
// [Staging], a [Visitor]. [Options.Labels] and [Options.Namespace] get the stored form. The store
// itself decodes an object for index functions alone, which get it decoded.
//
// Any goroutine calls the methods, and the writer's with locks held. They must not call the indexer.
type Codec interface {
	// Encode returns the stored form of an object, and a stored form unchanged. Its dynamic type is
	// the codec's own: a pointer, a different one for each object.
	Encode(obj any) (stored any)
	// Decode returns the object of a stored form, or nil if it cannot be decoded: then readers and
	// indexes leave it out.
	Decode(stored any) (obj any)
	// ForList returns what decodes in place of Decode when a list of n objects is read.
	ForList(n int) (decode func(stored any) (obj any))
	// Count is called with n = 1 when the store gets a stored form, and with n = -1 when it loses one.
	Count(stored any, n int)
}

// decoder turns the stored form into an object. A nil decoder means that the store holds the
// objects themselves.
type decoder func(stored any) (obj any)

// object returns the object of a stored form.
func (d decoder) object(stored any) any {
	if d == nil {
		return stored
	}
	return d(stored)
}

// decoderFor returns the decoder for reading a list of n objects.
func (x *store) decoderFor(n int) decoder {
	if c := x.options.Codec; c != nil {
		return c.ForList(n)
	}
	return nil
}

// Encode returns the form in which the store would hold an object, for the caller to keep.
func (w *Writer) Encode(obj any) (stored any) {
	if c := w.x.options.Codec; c != nil {
		return c.Encode(obj)
	}
	return obj
}

// count tells the codec which stored form has come, and which has gone; nil for none.
func (w *Writer) count(come, gone any) {
	c := w.x.options.Codec
	if c == nil || come == gone {
		return
	}
	if come != nil {
		c.Count(come, 1)
	}
	if gone != nil {
		c.Count(gone, -1)
	}
}

// Stored returns the stored form of a key's object, as [Tx.Get] does. It takes no lock.
func (w *Writer) Stored(key Key) (stored any, ok bool) {
	if r := w.x.live.Load().records.get(key); r != nil {
		return r.value.stored(), true
	}
	return nil, false
}
