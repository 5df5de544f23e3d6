package reflector

import (
	"k8s.io/apimachinery/pkg/watch"
)

// arrival is one thing that a source has sent: an event, or an item of a list,
// which counts as Added.
type arrival struct {
	watch.Event
	// readHere says that the reflector has read the bytes itself, id what they say of
	// the object, where it was not decoded.
	readHere bool
	id       id
	size     int // of the object as it was encoded, where the reflector has read it
	// known is the sink's own object of this id, which was not decoded: nil
	// where it was.
	known any
	// undecodable says why the object of this id could not be decoded.
	undecodable error
	// unexpected says why the event is to be skipped.
	unexpected error
}
