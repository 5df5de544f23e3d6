package object

import (
	"hash/maphash"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Identity identifies one version of one object: its key, metadata.uid and metadata.resourceVersion, as the
// server sent them.
type Identity struct {
	Key          indexer.Key
	UID, Version string
}

// IdentityOf returns the identity of an object that is stored under a key. UID and version are those in
// its metadata.
func IdentityOf(key indexer.Key, obj any) Identity {
	m := Meta(obj)
	if m == nil {
		return Identity{Key: key}
	}
	return Identity{key, string(m.GetUID()), m.GetResourceVersion()}
}

// ShownBy reports whether an object has the identity, given that it is stored under the identity's key.
// It equals IdentityOf(i.Key, obj) == i, but does not compare the keys.
func (i Identity) ShownBy(obj any) bool {
	m := Meta(obj)
	if m == nil {
		return i.UID == "" && i.Version == ""
	}
	return m.GetResourceVersion() == i.Version && string(m.GetUID()) == i.UID
}

// SameObject reports whether two identities with the same key may belong to one object. An identity
// without a UID may belong to any object.
func (i Identity) SameObject(other Identity) bool {
	return i.UID == other.UID || i.UID == "" || other.UID == ""
}

// stampSeed seeds the stamps of this process.
var stampSeed = maphash.MakeSeed()

// StampByHand is the stamp of objects that the program itself put into the store. The server did not
// send them.
const StampByHand = 0

// StampOf returns a hash of a UID. It never returns [StampByHand]. The store keeps the stamp in the
// object's record, to compare the UID of the next version without reading the stored object, which is no
// longer in the CPU's cache. With 47 bits and a secret seed, two UIDs never have the same stamp in
// practice. If the stamps differ, the UIDs themselves are compared.
func StampOf(uid string) uint64 {
	return maphash.String(stampSeed, uid)>>(64-indexer.StampBits) | 1
}
