package jsondecode

import (
	"bytes"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// ReadIdentity reads an item's metadata, and nothing after it. It reports whether the metadata has a
// name. It does not check the whole item, because the decoder does.
func ReadIdentity(item []byte) (id object.Identity, ok bool) {
	s := stream{buf: item, limit: longest}
	if !s.toMetadata() {
		return object.Identity{}, false
	}
	return identity(&s)
}

// Metadata returns the first metadata of an object in encoded form. It reads nothing after the metadata,
// and does not check it. It returns false if it finds no metadata.
func Metadata(object []byte) (metadata []byte, ok bool) {
	s := stream{buf: object, limit: longest}
	if !s.toMetadata() {
		return nil, false
	}
	metadata, err := s.value()
	return metadata, err == nil
}

// toMetadata reads an object up to its metadata. It reports whether the metadata comes next.
func (s *stream) toMetadata() bool {
	if s.expect('{') != nil {
		return false
	}
	for begun := false; ; begun = true {
		key, more, err := s.member(begun)
		if err != nil || !more {
			return false
		}
		if key == "metadata" {
			return true
		}
		if _, err := s.value(); err != nil {
			return false
		}
	}
}

// identity reads the metadata, which comes next.
func identity(s *stream) (id object.Identity, ok bool) {
	if s.expect('{') != nil {
		return object.Identity{}, false
	}
	for begun := false; ; begun = true {
		key, more, err := s.member(begun)
		if err != nil {
			return object.Identity{}, false
		}
		if !more {
			return id, id.Key.Name != ""
		}
		raw, err := s.value()
		if err != nil {
			return object.Identity{}, false
		}
		if field := fieldOf(&id, key); field != nil {
			*field, _ = unquote(raw)
		}
	}
}

// fieldOf returns the field of an identity for a key of the metadata, or nil.
func fieldOf(id *object.Identity, key string) *string {
	switch key {
	case "name":
		return &id.Key.Name
	case "namespace":
		return &id.Key.Namespace
	case "uid":
		return &id.UID
	case "resourceVersion":
		return &id.Version
	}
	return nil
}

// parts are the encoded members that objects of every kind have.
type parts struct{ version, kind, metadata []byte }

// Split returns the kind of an object and its encoded metadata, which is nil if the object has none.
// Split does not check that other members are well-formed. It finds their ends by quotes and brackets.
// After the kind, the version and the metadata it stops reading, unless one of them may occur again. It
// returns false if the text is not an object, or if the kind or the metadata occurs twice.
func Split(object []byte) (t metav1.TypeMeta, metadata []byte, ok bool) {
	var of parts
	s := stream{buf: object, limit: longest}
	if s.expect('{') != nil {
		return t, nil, false
	}
	for begun := false; ; begun = true {
		key, more, err := s.member(begun)
		if err != nil {
			return t, nil, false
		}
		if !more {
			break
		}
		complete := of.isComplete()
		raw, err := s.value()
		if err != nil || !of.add(key, raw) {
			return t, nil, false
		}
		if !complete && of.isComplete() && !mayRepeat(s.buf[s.pos:]) {
			return of.typeMeta(), of.metadata, true
		}
	}
	return of.typeMeta(), of.metadata, errors.Is(s.end(), io.EOF)
}

func (p *parts) isComplete() bool { return p.version != nil && p.kind != nil && p.metadata != nil }

func (p *parts) typeMeta() (t metav1.TypeMeta) {
	t.APIVersion, _ = unquote(p.version)
	t.Kind, _ = unquote(p.kind)
	return t
}

// mayRepeat reports whether a text may contain the name of a part, verbatim or with escapes.
func mayRepeat(text []byte) bool {
	return bytes.IndexByte(text, '\\') >= 0 || bytes.Contains(text, []byte(`"metadata"`)) ||
		bytes.Contains(text, []byte(`"kind"`)) || bytes.Contains(text, []byte(`"apiVersion"`))
}

// add records a member, and reports whether it is the first one with its key.
func (p *parts) add(key string, raw []byte) bool {
	to := &p.metadata
	switch key {
	case "metadata":
	case "kind":
		to = &p.kind
	case "apiVersion":
		to = &p.version
	default:
		return true
	}
	first := *to == nil
	*to = raw
	return first
}
