package around

// Source is what a source is around.
type Source[S any] struct {
	Inner S // nil if it could not be made
	// ListOnly is true if the initial state is to be listed, though Inner may be able to stream it.
	ListOnly bool
}
