package refs

import "github.com/tidemark-k8s/tidemark/indexer"

// Ref names an object that others refer to. It need not exist, nor need anybody watch its kind.
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

// ReferringTo returns the query for the objects that refer to one, by an index of [ByReference]. A Ref
// without a name selects none. Together with other conditions it can be written by hand: its only
// condition is the field [ReferenceIndex] with the value of [Ref.String].
func ReferringTo(r Ref) indexer.Query {
	return indexer.Query{Fields: map[string]string{ReferenceIndex: r.String()}}
}
