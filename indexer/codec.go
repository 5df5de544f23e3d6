package indexer

// Codec stores objects in another form, which takes less memory. Readers get the object
// decoded, anew on each read.
//
// The write side works with the stored form and decodes nothing: a [Tx] and its [Snapshot], a
// [Staging], a [Visitor]. Index functions and labels get the object given to Put. The store
// itself decodes in three cases: to fill an index added later, to check a selector no index
// answers, and to index an object handed back in its stored form (see [Staging.PutStored];
// another writer may also have replaced an object that a Staging had found unchanged).
//
// Any goroutine calls the two methods, with locks held: they must be quick, must not fail, and
// must not call the indexer.
type Codec interface {
	// Encode returns the stored form of an object. Its dynamic type is the codec's own: a
	// pointer, a different one for each call.
	Encode(obj any) (stored any)
	// Decode returns the object of a stored form.
	Decode(stored any) (obj any)
}

// Decoder turns the stored form into an object. A nil Decoder means that the store holds the
// objects themselves: code that reads many objects asks for the Decoder once.
type Decoder func(stored any) (obj any)

// Object returns the object of a stored form.
func (d Decoder) Object(stored any) any {
	if d == nil {
		return stored
	}
	return d(stored)
}

// Decoder returns the store's decoder, nil without a [Codec].
func (w *Writer) Decoder() Decoder { return w.x.decode }

// Encode returns the form in which the store would hold an object, for the caller to keep.
func (w *Writer) Encode(obj any) (stored any) {
	if c := w.x.options.Codec; c != nil {
		return c.Encode(obj)
	}
	return obj
}

// Stored returns the stored form of a key's object, as [Tx.Get] does. It takes no lock.
func (w *Writer) Stored(key Key) (stored any, ok bool) {
	if r := w.x.live.Load().records.get(key); r != nil {
		return r.value.stored(), true
	}
	return nil, false
}
