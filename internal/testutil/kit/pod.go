package kit

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// APIObject is an API object with metadata.
type APIObject interface {
	metav1.Object
	runtime.Object
}

// Pod returns a pod in the namespace "default". Its UID is derived from its name, unless an option sets
// another UID.
func Pod(name, version string, options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version,
		CreationTimestamp: metav1.Time{Time: time.Unix(1, 0)},
	}}
	for _, option := range options {
		option(p)
	}
	return p
}

// Selector parses a label selector, such as "app=web".
func Selector(text string) labels.Selector {
	s, err := labels.Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Label sets a label of a pod.
func Label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
}

// UID sets the UID of a pod.
func UID(uid string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.UID = types.UID(uid) } }

// Bookmark returns the object of a bookmark event. If end is not empty, it is the value of the
// annotation for the end of the initial state.
func Bookmark(version, end string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	if end != "" {
		p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: end}
	}
	return p
}

// PodList returns a list of copies of the pods.
func PodList(version string, pods ...corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for i := range pods {
		list.Items = append(list.Items, *pods[i].DeepCopy())
	}
	return list
}

// Expired returns the object of an error event with status 410.
func Expired() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410, Message: "too old"}
}
