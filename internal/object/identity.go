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

// IdentityOf returns the identity of an object that is stored under a key, as the object's metadata show it.
func IdentityOf(key indexer.Key, obj any) Identity {
	m := Meta(obj)
	if m == nil {
		return Identity{Key: key}
	}
	return Identity{key, string(m.GetUID()), m.GetResourceVersion()}
}

// ShownBy reports whether the metadata of an object that is stored under the identity's key show the identity.
// It is IdentityOf(i.Key, obj) == i without the comparison of the keys.
func (i Identity) ShownBy(obj any) bool {
	m := Meta(obj)
	if m == nil {
		return i.UID == "" && i.Version == ""
	}
	return m.GetResourceVersion() == i.Version && string(m.GetUID()) == i.UID
}

// SameObject reports whether two identities of one key may be of the same object: an identity without a UID
// may be of any object.
func (i Identity) SameObject(other Identity) bool {
	return i.UID == other.UID || i.UID == "" || other.UID == ""
}

// stampSeed seeds the stamps of this process.
var stampSeed = maphash.MakeSeed()

// StampByHand is the stamp of objects that a user has put into the store by hand. They are no
// versions that a server has sent.
const StampByHand = 0

// StampOf returns a hash of a UID, never [StampByHand]. The store keeps it beside the object, so
// that the UID of the next version can be compared without reading the stored object, which is no
// longer in the CPU's cache. With 47 bits and a secret seed, two UIDs with the same stamp are not
// expected. If the stamps differ, the UIDs are compared.
func StampOf(uid string) uint64 {
	return maphash.String(stampSeed, uid)>>(64-indexer.StampBits) | 1
}
