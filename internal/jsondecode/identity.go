package jsondecode

// Identity is the name, UID and version of an item, read without decoding it.
type Identity struct{ Name, Namespace, UID, Version string }

// ReadIdentity reads an item's metadata, and nothing behind it. It reports whether there is a
// metadata.name. It does not check the whole item; the decoder does.
func ReadIdentity(item []byte) (id Identity, ok bool) {
	s := stream{buf: item, limit: longest}
	if s.expect('{') != nil {
		return Identity{}, false
	}
	for begun := false; ; begun = true {
		more, err := s.another(begun, '}')
		if err != nil || !more {
			return Identity{}, false
		}
		key, err := s.key()
		if err != nil {
			return Identity{}, false
		}
		if key == "metadata" {
			return identity(&s)
		}
		if _, err := s.value(); err != nil {
			return Identity{}, false
		}
	}
}

// identity reads the metadata that comes next.
func identity(s *stream) (id Identity, ok bool) {
	if s.expect('{') != nil {
		return Identity{}, false
	}
	for begun := false; ; begun = true {
		more, err := s.another(begun, '}')
		if err != nil {
			return Identity{}, false
		}
		if !more {
			return id, id.Name != ""
		}
		key, err := s.key()
		if err != nil {
			return Identity{}, false
		}
		raw, err := s.value()
		if err != nil {
			return Identity{}, false
		}
		if field := id.field(key); field != nil {
			*field, _ = unquote(raw)
		}
	}
}

// field returns the destination of a key's value, or nil.
func (id *Identity) field(key string) *string {
	switch key {
	case "name":
		return &id.Name
	case "namespace":
		return &id.Namespace
	case "uid":
		return &id.UID
	case "resourceVersion":
		return &id.Version
	}
	return nil
}
