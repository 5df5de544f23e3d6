package informertest

import (
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scaleKind returns the kind of the scale subresource.
func (k kind) scaleKind() kind {
	return kind{
		Kind:    Kind{GVR: k.GVR, GVK: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), Namespaced: k.Namespaced},
		object:  &autoscalingv1.Scale{},
		builtin: true,
	}
}

// canScale reports whether a Go type has the field spec.replicas.
func canScale(obj apiObject) bool {
	replicas := goField(obj, "Spec", "Replicas")
	return replicas.IsValid() && replicas.Type() == reflect.TypeFor[*int32]()
}

// scaleOf returns an object's scale.
func scaleOf(obj apiObject) *autoscalingv1.Scale {
	s := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
	}}
	s.Spec.Replicas = 1 // the default
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if n, ok, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); ok {
			s.Spec.Replicas = int32(n)
		}
		n, _, _ := unstructured.NestedInt64(u.Object, "status", "replicas")
		s.Status.Replicas = int32(n)
		s.Status.Selector, _, _ = unstructured.NestedString(u.Object, "status", "selector")
		return s
	}
	if n := goField(obj, "Spec", "Replicas"); !n.IsNil() {
		s.Spec.Replicas = int32(n.Elem().Int())
	}
	if n := goField(obj, "Status", "Replicas"); n.IsValid() && n.CanInt() {
		s.Status.Replicas = int32(n.Int())
	}
	if selector := goField(obj, "Spec", "Selector"); selector.IsValid() {
		s.Status.Selector = spellSelector(selector.Interface())
	}
	return s
}

// spellSelector returns a selector in the API's syntax.
func spellSelector(selector any) string {
	switch by := selector.(type) {
	case map[string]string:
		return labels.SelectorFromSet(by).String()
	case *metav1.LabelSelector:
		if found, err := metav1.LabelSelectorAsSelector(by); err == nil && by != nil {
			return found.String()
		}
	}
	return ""
}

// setReplicas returns a copy of an object, with the number of replicas of a scale.
func setReplicas(k kind, obj apiObject, s *autoscalingv1.Scale) (apiObject, error) {
	if s.Spec.Replicas < 0 {
		return nil, errInvalid(k.scaleKind(), s.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), s.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	scaled := copyOf(obj)
	if u, ok := scaled.(*unstructured.Unstructured); ok {
		err := unstructured.SetNestedField(u.Object, int64(s.Spec.Replicas), "spec", "replicas")
		return u, err
	}
	goField(scaled, "Spec", "Replicas").Set(reflect.ValueOf(&s.Spec.Replicas))
	return scaled, nil
}
