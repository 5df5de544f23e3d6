// Package around is for sources of this module that stand around another source and leave its
// requests and answers as they are. A user's source cannot say so of itself: what its List and
// Watch do is not known, so they are called.
package around

// Source is what a source is around.
type Source[S any] struct {
	Inner S // nil if it could not be made
	// ListOnly is true if the initial state is to be listed, though Inner may be able to stream it.
	ListOnly bool
}
