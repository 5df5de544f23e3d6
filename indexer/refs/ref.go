package refs

import "github.com/tidemark-k8s/tidemark/indexer"

// Ref names an object that others refer to. The object need not exist, and its kind need not be
// watched.
type Ref struct {
	Group     string // of the API; "" for the core group
	Kind      string
	Namespace string // "" for a cluster-scoped kind
	Name      string // "" refers to nothing
}

// String returns the value of the reference in [ReferenceIndex], such as "Secret/shop/tls",
// "Deployment.apps/shop/web" or "Node//n1".
func (r Ref) String() string {
	if r.Group == "" {
		return r.Kind + "/" + r.Namespace + "/" + r.Name
	}
	return r.Kind + "." + r.Group + "/" + r.Namespace + "/" + r.Name
}

// ReferringTo returns the query for the objects that refer to an object, by an index of
// [ByReference]. A Ref without a name selects nothing. You can also write the query yourself, with
// further conditions: it has the field [ReferenceIndex] with the value of [Ref.String].
func ReferringTo(r Ref) indexer.Query {
	return indexer.Query{Fields: map[string]string{ReferenceIndex: r.String()}}
}
