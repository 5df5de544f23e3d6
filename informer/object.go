package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is the type constraint of an [Informer]: an API object with metadata, such as
// *corev1.Pod, or an interface type with these methods.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}
