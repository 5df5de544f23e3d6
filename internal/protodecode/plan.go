package protodecode

import (
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A plan describes the decoding of one message type into a Go value. A complete plan never
// changes, and is safe for any goroutine.
type plan struct {
	typ    reflect.Type
	form   form
	fields []field // by number; a zero field is skipped

	// arrays holds the types of short arrays of this message, by length. They are made in
	// advance, because reflect has no cheap way to make a slice.
	arrays [shortArray]reflect.Type
}

// shortArray bounds the arrays that are allocated without a slice header.
const shortArray = 9

// form selects the code that decodes a message.
type form uint8

const (
	formTable     form = iota // by its fields
	formTime                  // metav1.Time
	formMicroTime             // metav1.MicroTime
	formQuantity              // resource.Quantity
	formForeign               // its own Unmarshal: nothing is known about it
)

// kind selects the code that decodes a field.
type kind uint8

const (
	kindSkipped kind = iota // unknown or left out
	kindUnknown             // of a shape that only the generated code knows

	kindString
	kindBool
	kind32 // int32, uint32 and their like
	kind64
	kindFloat32
	kindFloat64
	kindBytes
	kindMessage

	// Pointers to the above.
	kindStringPointer
	kindBoolPointer
	kind32Pointer
	kind64Pointer
	kindFloat32Pointer
	kindFloat64Pointer
	kindMessagePointer

	// Slices and maps.
	kindStrings
	kindBools
	kind32s
	kind64s
	kindMessages
	kindStringMap // map[string]string
	kindBytesMap  // map[string][]byte
	kindMap       // from strings of any type to messages, or to strings of any type
)

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// reach says whether other objects may share the value of a field.
type reach uint8

const (
	// reachSolid values have nothing to share, or are not worth a look-up.
	reachSolid reach = iota
	// reachShared values may be shared.
	reachShared
	// reachPrivate values belong to one object, and so do all values around them.
	reachPrivate
)

// field is a field of a message. Its unneeded fields are zero.
type field struct {
	kind    kind
	wire    uint8
	reach   reach
	intern  bool   // whether equal strings are looked for
	payload bool   // whether it belongs to a program's own data, see [gotype.Payload]
	once    uint64 // the field's bit, where it must not occur twice in a message
	tag     uint16 // the encoded number and wire type, the first byte lowest
	tagLen  int
	offset  uintptr

	typ  reflect.Type // of the field
	elem reflect.Type // of what a map holds
	drop *fields.Set  // the keys of a map to leave out
	sub  *plan        // of the message that the field is, holds or points to

	values, strings, keys share.Site
}

// planKey identifies a plan. The same type has different plans: below ObjectMeta nothing is
// shared, and the fields to leave out depend on the path.
type planKey struct {
	typ   reflect.Type
	drop  *fields.Set
	realm gotype.Realm
}
