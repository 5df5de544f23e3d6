package wire

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tidemark-k8s/tidemark/internal/protodecode"
)

// The numbers of the fields that contain the identity of an object, as in the generated.proto files of
// apimachinery. In all kinds, the metadata is the first field.
const (
	eventType      = 1 // a field of meta.v1.WatchEvent
	eventObject    = 2
	unknownType    = 1 // a field of runtime.Unknown
	unknownRaw     = 2
	objectMetadata = 1 // a field of every object
	metaName       = 1 // a field of meta.v1.ObjectMeta
	metaNamespace  = 3
	metaUID        = 5
	metaVersion    = 6
)

var magic = []byte(protodecode.Magic)

func cutMagic(raw []byte) (envelope []byte, ok bool) { return bytes.CutPrefix(raw, magic) }

// text returns a string field, or "" if the field is incomplete or missing.
func text(message []byte, number protowire.Number) string {
	if value, whole := field(message, number); whole {
		return string(value)
	}
	return ""
}

// field returns the bytes of a string or message field, and reports whether the field is complete. The
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
