package protodecode

import (
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A plan describes how one message type is decoded into a Go value. A complete plan never changes, and
// is safe for concurrent use.
type plan struct {
	typ    reflect.Type
	form   form
	fields []field // by number; a zero field means that the field is skipped

	// arrays holds array types of this message, by length. They are made in advance, because making a
	// slice by reflect is expensive.
	arrays [shortArray]reflect.Type
}

// shortArray limits the arrays that are allocated without a slice header.
const shortArray = 9

// form selects the code that decodes a message.
type form uint8

const (
	formTable     form = iota // by the table of its fields
	formTime                  // metav1.Time
	formMicroTime             // metav1.MicroTime
	formQuantity              // resource.Quantity
	formForeign               // by its own, unknown Unmarshal
)

// kind selects the code that decodes a field.
type kind uint8

const (
	kindSkipped kind = iota // unknown or dropped
	kindUnknown             // only the generated code can decode it

	kindString
	kindBool
	kind32 // int32, uint32 and similar types
	kind64
	kindFloat32
	kindFloat64
	kindBytes
	kindMessage

	// Pointers to the kinds above.
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
	kindMap       // from any string type to messages or any string type
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
	// reachSolid values contain nothing to share, or are not worth a look-up.
	reachSolid reach = iota
	// reachShared values may be shared.
	reachShared
	// reachPrivate values belong to one object, like all values that contain them.
	reachPrivate
)

// field is a field of a message. Members that its kind does not need are zero.
type field struct {
	kind    kind
	wire    uint8
	reach   reach
	intern  bool   // whether equal strings are shared
	payload bool   // whether it is in [gotype.Payload]
	once    uint64 // the field's bit, if the field must not occur twice in a message
	tag     uint16 // the encoded number and wire type, the first byte lowest
	tagLen  int
	offset  uintptr

	typ  reflect.Type // the type of the field
	elem reflect.Type // the type of a map's values
	drop *fields.Set  // the keys of a map to drop
	sub  *plan        // the plan of the message that the field is, contains or points to

	values, strings, keys share.Site
}

// planKey identifies a plan. A type can have several plans, because nothing is shared below ObjectMeta,
// and dropped fields depend on the path.
type planKey struct {
	typ   reflect.Type
	drop  *fields.Set
	realm gotype.Realm
}
