package informertest

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Fields have managers only after an object's first apply. In a real server they have managers from the
// beginning. That would make each write ten times as expensive, for tests that rarely read managed fields.

// firstManager owns all fields set before the first apply.
const firstManager = "before-first-apply"

// subresources maps views to their names in managed fields.
var subresources = map[view]string{viewStatus: "status", viewScale: "scale", viewFinalize: "finalize"}

// fieldManager returns kube-apiserver's implementation of managed fields and merging. It works on
// unstructured objects.
func (k kind) fieldManager(v view) (*managedfields.FieldManager, error) {
	var as asIs
	gv := k.GVK.GroupVersion()
	if k.builtin {
		return managedfields.NewDefaultFieldManager(k.types(), as, as, as, k.GVK, gv, subresources[v], nil)
	}
	return managedfields.NewDefaultCRDFieldManager(k.types(), as, as, as, k.GVK, gv, subresources[v], nil)
}

// asIs returns objects unchanged: a kind has one version here, and no defaults.
type asIs struct{}

func (asIs) Convert(_, _, _ any) error { return nil }

func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (l, v string, err error) {
	return label, value, nil
}

func (asIs) Default(runtime.Object) {}

func (asIs) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(gvk)
	return empty, nil
}

// toUnstructured returns an unstructured deep copy of an object.
func (k kind) toUnstructured(obj apiObject) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(withKind(copyOf(obj), k.GVK))
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// updateManagers adds the writer to an object's managers, if the replaced object has managed fields.
func (w writing) updateManagers(k kind, old, updated apiObject) error {
	if w.hasManagers || len(old.GetManagedFields()) == 0 {
		return nil
	}
	m, err := k.fieldManager(w.view)
	if err != nil {
		return err
	}
	was, err := k.toUnstructured(old)
	if err != nil {
		return err
	}
	is, err := k.toUnstructured(updated)
	if err != nil {
		return err
	}
	managed := m.UpdateNoErrors(was, is, w.manager).(*unstructured.Unstructured)
	updated.SetManagedFields(keepTimes(managed.GetManagedFields(), old.GetManagedFields()))
	return nil
}

// keepTimes returns the old entries if the new entries differ only in their times, and otherwise the new
// ones.
func keepTimes(entries, were []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if len(entries) != len(were) {
		return entries
	}
	for i, e := range entries {
		e.Time = were[i].Time
		if !equality.Semantic.DeepEqual(e, were[i]) {
			return entries
		}
	}
	return were
}

// addManagers gives each field of an object its manager, before the first apply to the object. If the server
// has set the phase of a new object, the phase has no manager.
func (k kind) addManagers(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, v := range []view{viewMain, viewStatus} {
		m, err := k.fieldManager(v)
		if err != nil {
			return nil, err
		}
		before, now := live.DeepCopy(), live.DeepCopy()
		switch {
		case v == viewMain:
			before.Object = map[string]any{"apiVersion": live.GetAPIVersion(), "kind": live.GetKind()}
			k.hideStatus(now)
		case k.Status:
			k.hideStatus(before)
			if phase, _, _ := unstructured.NestedString(now.Object, "status", "phase"); phase != "" && phase == k.phase {
				unstructured.RemoveNestedField(now.Object, "status", "phase")
			}
		default:
			continue
		}
		found, err := m.Update(before, now, firstManager)
		if err != nil {
			return nil, err
		}
		live.SetManagedFields(found.(*unstructured.Unstructured).GetManagedFields())
	}
	return live, nil
}

// hideStatus removes the status of an object, if the kind has the status subresource.
func (k kind) hideStatus(obj *unstructured.Unstructured) {
	if k.Status {
		delete(obj.Object, "status")
	}
}
