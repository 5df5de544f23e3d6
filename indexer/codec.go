package indexer

// Codec stores objects in another form, which takes less memory. Readers get the object decoded.
//
// The write side ([Tx] and its [Snapshot], [Staging], [Visitor]) returns the stored form, and takes
// objects in either form. [Options.Labels] and [Options.Namespace] get the stored form. The store
// itself decodes objects only for index functions.
//
// The methods run on any goroutine. The writer's goroutine holds locks then, so they must not call
// the indexer.
type Codec interface {
	// Encode returns the stored form of an object, or a stored form unchanged. The stored form's
	// dynamic type is the codec's own pointer type. Each object has a different pointer.
	Encode(obj any) (stored any)
	// Decode returns the object of a stored form. If it returns nil because it cannot decode,
	// readers and indexes leave the object out.
	Decode(stored any) (obj any)
	// ForList returns the function that replaces Decode for reading a list of n objects.
	ForList(n int) (decode func(stored any) (obj any))
	// Count gets n = 1 when the store adds a stored form, and n = -1 when it removes one.
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

// Encode returns an object in the store's form, for the caller to keep.
func (w *Writer) Encode(obj any) (stored any) {
	if c := w.x.options.Codec; c != nil {
		return c.Encode(obj)
	}
	return obj
}

// count reports an added and a removed stored form to the codec. Either may be nil.
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
