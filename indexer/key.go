package indexer

// Key identifies an object by its namespace, empty for cluster-scoped kinds, and its name. It is
// comparable, so that a look-up builds no string; client-go's "namespace/name" is [Key.String].
type Key struct{ Namespace, Name string }

// ParseKey splits client-go's spelling of a key at its first slash, into namespace and name. A
// string without a slash, or with nothing before it, is the name of a cluster-scoped object. It
// is the inverse of [Key.String] for every namespaced key whose namespace holds no slash.
func ParseKey(s string) Key {
	for i := range len(s) { // for a short namespace faster than strings.IndexByte
		if s[i] == '/' && i > 0 {
			return Key{Namespace: s[:i], Name: s[i+1:]}
		} else if s[i] == '/' {
			break
		}
	}
	return Key{Name: s}
}

// String spells the key as client-go's MetaNamespaceKeyFunc does:
// "namespace/name", or "name" where there is no namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}
