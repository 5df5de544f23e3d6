package informer

import (
	"hash/maphash"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Object is an API object with metadata, such as *corev1.Pod. An interface type with these methods
// will do too.
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

// identity identifies a version of an object: metadata.uid and metadata.resourceVersion as the
// server sent them.
type identity struct{ uid, version string }

func identityOf[T any](obj T) identity {
	m := object.Meta(obj)
	if m == nil {
		return identity{}
	}
	return identity{string(m.GetUID()), m.GetResourceVersion()}
}

// stampSeed is the seed of the stamps of this process.
var stampSeed = maphash.MakeSeed()

// stampByHand is the stamp of an object written by a user: it is no version of the server's.
const stampByHand = 0

// stampOf returns a hash of a UID, never [stampByHand]. It is kept beside a stored object, whose
// memory is in no processor cache any more, to be compared with the next version's. With 47 bits
// and a secret seed, two UIDs with the same stamp are not to be expected. If the stamps differ, the
// UIDs decide.
func stampOf(uid string) uint64 {
	return maphash.String(stampSeed, uid)>>(64-indexer.StampBits) | 1
}

// sameObject reports whether two identities are of one object. An unknown UID counts as equal.
func (i identity) sameObject(other identity) bool {
	return i.uid == other.uid || i.uid == "" || other.uid == ""
}
