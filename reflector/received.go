package reflector

import (
	"k8s.io/apimachinery/pkg/watch"
)

// received is one thing that a source has sent: an event, or an item of a list,
// which counts as Added.
type received struct {
	watch.Event
	// readHere says that the reflector has read the bytes itself. Then size is the number of bytes
	// and, if they were not decoded, id is the identity that they contain.
	readHere bool
	id       id
	size     int
	// known is the sink's own object of this id, if the sink has it. The bytes are not decoded then.
	known any
	// undecodable says why the object of this id could not be decoded.
	undecodable error
	// unexpected says why the event is to be skipped.
	unexpected error
}
