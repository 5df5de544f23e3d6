package informertest

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Fields have managers from an object's first apply on. A real server tracks them from the
// beginning, but that would make each write ten times slower for tests that never look at them.

// firstManager owns all fields from before the first apply.
const firstManager = "before-first-apply"

// subresources are the views by their names in managed fields.
var subresources = map[view]string{viewStatus: "status", viewScale: "scale"}

// fieldManager is a real server's code for managed fields and for merging. It
// sees objects in the form of JSON.
func (k kind) fieldManager(v view) (*managedfields.FieldManager, error) {
	var as asIs
	gv := k.GVK.GroupVersion()
	if k.builtin {
		return managedfields.NewDefaultFieldManager(k.types(), as, as, as, k.GVK, gv, subresources[v], nil)
	}
	return managedfields.NewDefaultCRDFieldManager(k.types(), as, as, as, k.GVK, gv, subresources[v], nil)
}

// asIs stands for defaults, and for conversions between versions of a kind: the model has none.
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

// bare returns an object in the form of JSON. It shares nothing with obj.
func (k kind) bare(obj Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(withKind(copyOf(obj), k.GVK))
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// credit adds the writer to an object's managers, if the replaced object has a list of them.
func (w writing) credit(k kind, old, updated Object) error {
	if w.credited || len(old.GetManagedFields()) == 0 {
		return nil
	}
	m, err := k.fieldManager(w.view)
	if err != nil {
		return err
	}
	was, err := k.bare(old)
	if err != nil {
		return err
	}
	is, err := k.bare(updated)
	if err != nil {
		return err
	}
	credited := m.UpdateNoErrors(was, is, w.manager).(*unstructured.Unstructured)
	updated.SetManagedFields(timed(credited.GetManagedFields(), old.GetManagedFields()))
	return nil
}

// timed returns the entries, as they were if nothing differs but their times.
func timed(entries, were []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
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

// attribute gives the fields of an object their managers, before the first
// apply to it. The phase that a server gives to new objects is nobody's.
func (k kind) attribute(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
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
			if phase, _, _ := unstructured.NestedString(now.Object, "status", "phase"); k.builtin && phase == phases[k.GVR.Resource] {
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

// hideStatus removes the fields of the subresource.
func (k kind) hideStatus(obj *unstructured.Unstructured) {
	if k.Status {
		delete(obj.Object, "status")
	}
}
