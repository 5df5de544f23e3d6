package jsondecode

import (
	"bytes"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// ReadIdentity reads an item's metadata, and nothing behind it. It reports whether there is a
// metadata.name. It does not check the whole item; the decoder does.
func ReadIdentity(item []byte) (id object.Identity, ok bool) {
	s := stream{buf: item, limit: longest}
	if !s.toMetadata() {
		return object.Identity{}, false
	}
	return identity(&s)
}

// Metadata returns the first metadata of an object as it is encoded. It reads nothing behind it, and
// does not check it. It returns false if it finds none.
func Metadata(object []byte) (metadata []byte, ok bool) {
	s := stream{buf: object, limit: longest}
	if !s.toMetadata() {
		return nil, false
	}
	metadata, err := s.value()
	return metadata, err == nil
}

// toMetadata reads an object up to its metadata, and reports whether it comes next.
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

// identity reads the metadata that comes next.
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

// fieldOf returns where the value of a key of the metadata belongs in an identity, or nil.
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

// parts are the members of an object that every kind has, as they are encoded.
type parts struct{ version, kind, metadata []byte }

// Split returns the kind of an object, and its metadata as it is encoded, nil if it has none. Whether the
// other members are well-formed is not checked: their ends are found by quotes and brackets, and what stands
// behind all three is not read unless it may have one of them again. It returns false for what is no object,
// and if the kind or the metadata stands there twice.
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

// mayRepeat reports whether a text may have the name of a part, as a whole or with escapes.
func mayRepeat(text []byte) bool {
	return bytes.IndexByte(text, '\\') >= 0 || bytes.Contains(text, []byte(`"metadata"`)) ||
		bytes.Contains(text, []byte(`"kind"`)) || bytes.Contains(text, []byte(`"apiVersion"`))
}

// add notes a member, and reports whether it is the first one with this key.
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
