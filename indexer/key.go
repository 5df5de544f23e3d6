package indexer

// Key identifies an object by its namespace, empty for cluster-scoped kinds, and its name. It is
// comparable, so look-ups build no string. [Key.String] is client-go's "namespace/name".
type Key struct{ Namespace, Name string }

// ParseKey splits client-go's form of a key at its first slash, into namespace and name. A string
// without a slash, or with nothing before it, is the name of a cluster-scoped object. ParseKey is
// the inverse of [Key.String] for namespaced keys whose namespace has no slash.
func ParseKey(s string) Key {
	for i := range len(s) { // faster than strings.IndexByte for a short namespace
		if s[i] == '/' && i > 0 {
			return Key{Namespace: s[:i], Name: s[i+1:]}
		} else if s[i] == '/' {
			break
		}
	}
	return Key{Name: s}
}

// String returns the key as client-go's MetaNamespaceKeyFunc does: "namespace/name", or "name"
// without a namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}
