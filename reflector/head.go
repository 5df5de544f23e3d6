package reflector

import (
	"bytes"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// The numbers of the fields that lead to the identity of an object, as they
// stand in the generated.proto files of apimachinery. All kinds have their
// metadata first.
const (
	eventType      = 1 // of meta.v1.WatchEvent
	eventObject    = 2
	rawExtension   = 1 // of runtime.RawExtension
	unknownType    = 1 // of runtime.Unknown
	unknownRaw     = 2
	objectMetadata = 1 // of every object
	metaName       = 1 // of meta.v1.ObjectMeta
	metaNamespace  = 3
	metaUID        = 5
	metaVersion    = 6
)

// magic is the beginning of every object in protobuf.
var magic = []byte("k8s\x00")

func cutMagic(raw []byte) (envelope []byte, ok bool) { return bytes.CutPrefix(raw, magic) }

// id identifies one version of one object.
type id struct {
	key          indexer.Key
	uid, version string
}

// head holds the type of an event and the identity of its object, read from the beginning of a frame.
// A field that the beginning does not contain is empty.
type head struct {
	event    string
	typeMeta []byte
	id       id
}

// named reports whether the identity of the object is known in full.
func (h head) named() bool {
	return h.id.key.Name != "" && h.id.uid != "" && h.id.version != "" && len(h.typeMeta) > 0
}

// readHead reads a frame. The end of the frame may be missing.
func readHead(frame []byte) head {
	h := head{event: text(frame, eventType)}
	raw, _ := field(frame, eventObject)
	raw, _ = field(raw, rawExtension)
	object, ok := cutMagic(raw)
	if !ok {
		return h
	}
	if kind, whole := field(object, unknownType); whole {
		h.typeMeta = kind
	}
	object, _ = field(object, unknownRaw)
	h.id = readIdentity(object)
	return h
}

// stub returns a frame with a bookmark. Its object has an identity and nothing else.
func (h head) stub() []byte {
	var meta []byte
	meta = appendField(meta, metaName, []byte(h.id.key.Name))
	meta = appendField(meta, metaNamespace, []byte(h.id.key.Namespace))
	meta = appendField(meta, metaUID, []byte(h.id.uid))
	meta = appendField(meta, metaVersion, []byte(h.id.version))
	object := appendField(bytes.Clone(magic), unknownType, h.typeMeta) // a clone, so that magic itself does not grow
	object = appendField(object, unknownRaw, appendField(nil, objectMetadata, meta))
	event := appendField(nil, eventType, []byte(watch.Bookmark))
	event = appendField(event, eventObject, appendField(nil, rawExtension, object))
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(event))) //nolint:gosec // some hundred bytes
	return append(frame, event...)
}

// text returns a field of type string, or "" if the field is not there as a whole.
func text(message []byte, number protowire.Number) string {
	if value, whole := field(message, number); whole {
		return string(value)
	}
	return ""
}

// field returns the bytes of a string or message, and reports whether they are all of the field. The
// end of the message may be missing.
func field(message []byte, number protowire.Number) (value []byte, whole bool) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			break
		}
		message = message[size:]
		if n == number && kind == protowire.BytesType {
			length, size := protowire.ConsumeVarint(message)
			if size < 0 {
				break
			}
			value = message[size:]
			if whole = length <= uint64(len(value)); whole {
				value = value[:length]
			}
			return value, whole
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			break
		}
		message = message[size:]
	}
	return nil, false
}

func appendField(message []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(message, number, protowire.BytesType), value)
}
