package reflector

import (
	"k8s.io/apimachinery/pkg/watch"
)

// received is an event that a source has sent, or an item of a list, as an Added event.
type received struct {
	watch.Event
	// readHere says that the reflector has read the bytes itself. Then size is the number of bytes
	// and, if they were not decoded, id is the identity that they contain.
	readHere bool
	id       id
	size     int
	// known is the sink's own object of this id, if the sink has it. The bytes are not decoded then.
	known any
	// undecodable is the error of the object's decoder, if it failed.
	undecodable error
	// unexpected is the reason to skip the event, if there is one.
	unexpected error
}
