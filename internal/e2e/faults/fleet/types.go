package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Widget says how many pods with which image it needs.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas int    `json:"replicas"`
		Image    string `json:"image"`
	} `json:"spec"`
}

// WidgetList is the answer to a list request.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Widget `json:"items"`
}

// DeepCopyObject makes Widget a runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	twin := *w
	w.DeepCopyInto(&twin.ObjectMeta)
	return &twin
}

// DeepCopyObject makes WidgetList a runtime.Object.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	twin := *l
	l.DeepCopyInto(&twin.ListMeta)
	twin.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopyObject().(*Widget)
	}
	return &twin
}

// addWidgets adds the type to a scheme.
func addWidgets(types *runtime.Scheme) {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	types.AddKnownTypes(version, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(types, version)
}
