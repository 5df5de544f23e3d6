package informer

import (
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
