package informer

import (
	"hash/maphash"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Object is the type constraint of an [Informer]: an API object with metadata, such as
// *corev1.Pod, or an interface type with these methods.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}

// keyOf returns the key of an object, if it has metadata.
func keyOf[T any](obj T) (indexer.Key, bool) {
	m := object.Meta(obj)
	if m == nil {
		return indexer.Key{}, false
	}
	return object.Key(m), true
}

func labelsOf[T any](obj T) map[string]string {
	if m := object.Meta(obj); m != nil {
		return m.GetLabels()
	}
	return nil
}

func namespaceOf[T any](obj T) string {
	if m := object.Meta(obj); m != nil {
		return m.GetNamespace()
	}
	return ""
}

// identity identifies one version of one object: metadata.uid and metadata.resourceVersion, as the
// server sent them.
type identity struct{ uid, version string }

func identityOf[T any](obj T) identity {
	m := object.Meta(obj)
	if m == nil {
		return identity{}
	}
	return identity{string(m.GetUID()), m.GetResourceVersion()}
}

// stampSeed seeds the stamps of this process.
var stampSeed = maphash.MakeSeed()

// stampByHand is the stamp of objects that a user has put into the store by hand. They are no
// versions that a server has sent.
const stampByHand = 0

// stampOf returns a hash of a UID, never [stampByHand]. The store keeps it beside the object, so
// that the UID of the next version can be compared without reading the stored object, which is no
// longer in the CPU's cache. With 47 bits and a secret seed, two UIDs with the same stamp are not
// expected. If the stamps differ, the UIDs are compared.
func stampOf(uid string) uint64 {
	return maphash.String(stampSeed, uid)>>(64-indexer.StampBits) | 1
}

// sameObject reports whether two identities may be of the same object: an identity without a UID
// may be of any object.
func (i identity) sameObject(other identity) bool {
	return i.uid == other.uid || i.uid == "" || other.uid == ""
}
