package informertest

import (
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// apply merges a configuration into an object, or creates the object, and returns the view of the result. The
// manager then owns the fields of the configuration. Fields that the manager owned before, and that are
// missing in the configuration, are removed unless another manager also owns them.
func (m *model) apply(r schema.GroupVersionResource, namespace, name string, w writing, p patch) (obj apiObject, created bool, err error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return nil, false, err
	}
	wanted, err := p.configuration(c.kind, w.view)
	if err != nil {
		return nil, false, err
	}
	old := c.current(pathOf(namespace, name))
	if old == nil && w.view != viewMain {
		return nil, false, errNotFound(c.kind, name)
	}
	merged, err := w.merge(c.kind, old, wanted)
	if err != nil {
		return nil, false, err
	}
	if merged.GetName() != name {
		return nil, false, errOtherName(merged.GetName(), name)
	}
	w.hasManagers = true
	if old == nil {
		obj, err = m.create(r, namespace, w, merged)
		return obj, true, err
	}
	if uid := merged.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, false, errChangedUID(c.kind, merged)
	}
	shown := w.view
	w.view = viewWhole // the configuration has only fields of the view
	obj, err = m.update(r, namespace, w, merged)
	if err != nil {
		return nil, false, err
	}
	return shown.show(obj), false, nil
}

// configuration parses a body, in YAML or JSON, as a configuration of the object itself. In a configuration
// for a subresource, only the subresource's fields remain.
func (p patch) configuration(k kind, v view) (*unstructured.Unstructured, error) {
	read := map[string]any{}
	if err := yaml.Unmarshal(p.body, &read); err != nil {
		return nil, errMalformed(err)
	}
	u := &unstructured.Unstructured{Object: read}
	if gvk := u.GroupVersionKind(); gvk != k.seen(v).GVK {
		return nil, errOtherKind(gvk)
	}
	if err := checkMetadata(u); err != nil {
		return nil, err
	}
	switch v {
	case viewMain:
		k.hideStatus(u)
	case viewStatus:
		u.Object = part(u, "status")
	case viewScale:
		replicas, ok, _ := unstructured.NestedFieldCopy(read, "spec", "replicas")
		u.Object = part(u, "")
		if ok {
			u.Object["spec"] = map[string]any{"replicas": replicas}
		}
		u.SetGroupVersionKind(k.GVK)
	}
	return u, nil
}

// part returns an object's identifying fields and one other field.
func part(u *unstructured.Unstructured, field string) map[string]any {
	named := &unstructured.Unstructured{Object: map[string]any{}}
	named.SetGroupVersionKind(u.GroupVersionKind())
	named.SetNamespace(u.GetNamespace())
	named.SetName(u.GetName())
	named.SetUID(u.GetUID())
	named.SetResourceVersion(u.GetResourceVersion())
	if content, ok := u.Object[field]; ok {
		named.Object[field] = content
	}
	return named.Object
}

// merge returns a copy of an object with a configuration applied. If old is nil, it returns a new
// object.
func (w writing) merge(k kind, old apiObject, wanted *unstructured.Unstructured) (apiObject, error) {
	live, err := k.live(old)
	if err != nil {
		return nil, err
	}
	m, err := k.fieldManager(w.view)
	if err != nil {
		return nil, err
	}
	merged, err := m.Apply(live, wanted, w.manager, w.force)
	var known apierrors.APIStatus
	switch {
	case errors.As(err, &known):
		return nil, err
	case err != nil: // the configuration does not fit the kind
		return nil, errPlain(err.Error())
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	obj, err := k.parse(text)
	if err != nil {
		return nil, errMalformed(err)
	}
	if old != nil {
		obj.SetManagedFields(keepTimes(obj.GetManagedFields(), old.GetManagedFields()))
	}
	return obj, nil
}

// live returns an object with managers for its fields, so that a configuration can be applied to it. If old
// is nil, it returns an empty object.
func (k kind) live(old apiObject) (*unstructured.Unstructured, error) {
	if old == nil {
		empty := &unstructured.Unstructured{}
		empty.SetGroupVersionKind(k.GVK)
		return empty, nil
	}
	live, err := k.toUnstructured(old)
	if err != nil || len(old.GetManagedFields()) > 0 {
		return live, err
	}
	return k.addManagers(live)
}
