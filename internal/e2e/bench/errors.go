package main

import "errors"

var (
	errWatches = errors.New("the informer asks for watch after watch")
	errLists   = errors.New("the informer lists when it has no reason to")
	errMissing = errors.New("an object that is in both states is not found")
	errNotLast = errors.New("the store does not hold what came last")
	errPinned  = errors.New("the store holds an item of the list, and by that the whole page")
	errUnlike  = errors.New("the decoders make different objects of the same bytes")
	errLeft    = errors.New("tidemark has left to another decoder what it was to decode")
	errIndex   = errors.New("an index does not have what was put last")
)
