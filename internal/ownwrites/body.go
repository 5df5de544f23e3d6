package ownwrites

import (
	"bytes"
	"mime"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
)

// Body is the body of a request or an answer, with its Content-Type and Content-Encoding.
type Body struct {
	Type, Encoding string
	Data           []byte
	Whole          bool // Data is the whole body
}

// Encoded is one encoded object. It refers to the bytes of the body.
type Encoded struct {
	metav1.TypeMeta
	Protobuf bool
	Data     []byte // without the protobuf envelope
}

// encoded returns the object in a body. It returns false if the body is incomplete, compressed, or of an
// unknown media type. It does not read the kind of an object in JSON.
func (b Body) encoded() (Encoded, bool) {
	if !b.Whole || b.Encoding != "" && b.Encoding != "identity" {
		return Encoded{}, false
	}
	switch kind, _, err := mime.ParseMediaType(b.Type); {
	case b.Type == "", err == nil && (kind == runtime.ContentTypeJSON || isPatch(kind)):
		return Encoded{Data: b.Data}, true
	case err != nil || kind != runtime.ContentTypeProtobuf:
		return Encoded{}, false
	}
	envelope, ok := bytes.CutPrefix(b.Data, []byte(protodecode.Magic))
	u := runtime.Unknown{}
	if !ok || u.Unmarshal(envelope) != nil || u.ContentEncoding != "" {
		return Encoded{}, false
	}
	return Encoded{metav1.TypeMeta{APIVersion: u.APIVersion, Kind: u.Kind}, true, u.Raw}, true
}

// isPatch reports whether patches of a media type are objects themselves. The server reads an apply
// patch as YAML. This package understands only those that are also JSON.
func isPatch(kind string) bool {
	switch kind {
	case "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml":
		return true
	}
	return false
}

// unmarshal decodes a small object.
func (e Encoded) unmarshal(into interface{ Unmarshal([]byte) error }) bool {
	if e.Protobuf {
		return into.Unmarshal(e.Data) == nil
	}
	return json.Unmarshal(e.Data, into) == nil
}

// metadata decodes the kind and the metadata of an object.
func (e Encoded) metadata() (t metav1.TypeMeta, m *metav1.ObjectMeta, ok bool) {
	if e.Protobuf {
		o, err := protobufMetadata.Decode(e.Data)
		if err != nil {
			return t, nil, false
		}
		return e.TypeMeta, &o.(*metav1.PartialObjectMetadata).ObjectMeta, true
	}
	t, encoded, ok := jsondecode.Split(e.Data)
	if !ok || encoded == nil {
		return t, &metav1.ObjectMeta{}, ok
	}
	d := jsonMetadata.Get().(*jsondecode.Typed)
	defer jsonMetadata.Put(d)
	o, err := d.Decode(encoded)
	if err != nil {
		return t, nil, false
	}
	return t, o.(*metav1.ObjectMeta), true
}

// The decoders of metadata. Goroutines would have to take turns with a single JSON decoder.
var (
	notNeeded, _     = fields.Parse("managedFields", "annotations") // not needed here
	inObject, _      = fields.Parse("metadata.managedFields", "metadata.annotations")
	protobufMetadata = protodecode.New(reflect.TypeFor[metav1.PartialObjectMetadata](), protodecode.Options{Drop: inObject})
	jsonMetadata     = sync.Pool{New: func() any {
		return jsondecode.NewTyped(reflect.TypeFor[metav1.ObjectMeta](), jsondecode.Options{Drop: notNeeded})
	}}
)

// isMetadata reports whether a kind stands for metadata only.
func isMetadata(t metav1.TypeMeta) bool {
	return t.Kind == "PartialObjectMetadata" && strings.HasPrefix(t.APIVersion, metav1.GroupName+"/")
}
