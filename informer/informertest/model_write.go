package informertest

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// writing describes a write: its view, time and writer.
type writing struct {
	view view
	now  metav1.Time
	// dryRun is set if nothing is stored, and the client only gets the result.
	dryRun bool
	// manager will own the written fields. force takes them from other managers. hasManagers is set if the
	// object already lists its managers.
	manager            string
	force, hasManagers bool
}

// create stores a new object, and returns it as stored. Only the server's own methods can create an object
// with a status, or a Namespace without a finalizer in its spec.
func (m *model) create(r schema.GroupVersionResource, namespace string, w writing, obj apiObject) (apiObject, error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return nil, err
	}
	created, err := incoming(c.kind, namespace, obj)
	if err != nil {
		return nil, err
	}
	created.SetDeletionTimestamp(nil)
	created.SetDeletionGracePeriodSeconds(nil)
	if w.view != viewWhole {
		c.kind.resetStatus(created)
		if c.kind.specFinalizers {
			holdBySpec(created)
		}
	}
	version := m.version + 1
	if created.GetName() == "" && created.GetGenerateName() != "" {
		created.SetName(generateName(created.GetGenerateName(), version))
	}
	created.SetUID(uidOf(version))
	created.SetCreationTimestamp(w.now)
	created.SetGeneration(0)
	if c.kind.Generation {
		created.SetGeneration(1)
	}
	if problems := c.validate(created); len(problems) > 0 {
		return nil, errInvalid(c.kind, created.GetName(), problems)
	}
	if v := created.GetResourceVersion(); v != "" && v != "0" {
		return nil, errVersionOnCreate()
	}
	path := pathOf(created.GetNamespace(), created.GetName())
	if c.current(path) != nil {
		return nil, errExists(c.kind, created.GetName())
	}
	return m.commit(c, w, &change{path: path, new: created}), nil
}

// generateName returns a name of at most 63 characters: up to 58 of the base, and a suffix of five.
func generateName(base string, version uint64) string {
	return fmt.Sprintf("%.58s%05x", base, version)
}

// put updates an object. If the object does not exist and the kind allows it, put creates the object. It
// ignores a version then, and refuses a UID.
func (m *model) put(r schema.GroupVersionResource, namespace, name string, w writing, obj apiObject) (stored apiObject, created bool, err error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return nil, false, err
	}
	if !c.kind.putCreates || c.current(pathOf(namespace, name)) != nil {
		stored, err = m.update(r, namespace, w, obj)
		return stored, false, err
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, false, errOtherUID(c.kind, name, uid, "")
	}
	obj.SetResourceVersion("")
	stored, err = m.create(r, namespace, w, obj)
	return stored, true, err
}

// update replaces the view's part of an object, and returns the view of the result. Some kinds accept an
// object without a version, which replaces any version. An update that changes nothing does not take a
// version.
func (m *model) update(r schema.GroupVersionResource, namespace string, w writing, obj apiObject) (apiObject, error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return nil, err
	}
	in, err := incoming(c.kind.seen(w.view), namespace, obj)
	if err != nil {
		return nil, err
	}
	old := c.current(pathOf(in.GetNamespace(), in.GetName()))
	if old == nil {
		return nil, errNotFound(c.kind, in.GetName())
	}
	if err := meets(c.kind, old, in.GetUID(), in.GetResourceVersion()); err != nil {
		return nil, err
	}
	if v := in.GetResourceVersion(); (v == "" || v == "0") && c.kind.needsVersion && w.view.versioned() {
		return nil, errNoVersion(c.kind, in.GetName())
	}
	updated, err := w.view.replace(c.kind, old, in)
	if err != nil {
		return nil, err
	}
	c.kind.keep(updated, old)
	if err := w.updateManagers(c.kind, old, updated); err != nil {
		return nil, err
	}
	if problems := c.validateUpdate(updated, old); len(problems) > 0 {
		return nil, errInvalid(c.kind, updated.GetName(), problems)
	}
	return w.view.show(m.replace(c, w, old, updated)), nil
}

// keep copies the fields that an update cannot change, and counts the generation.
func (k kind) keep(updated, old apiObject) {
	updated.SetUID(old.GetUID())
	updated.SetResourceVersion(old.GetResourceVersion())
	updated.SetCreationTimestamp(old.GetCreationTimestamp())
	if t := old.GetDeletionTimestamp(); t != nil {
		updated.SetDeletionTimestamp(t)
	}
	if updated.GetDeletionGracePeriodSeconds() == nil {
		updated.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
	updated.SetGeneration(old.GetGeneration())
	if k.Generation && !k.sameSpec(old, updated) {
		updated.SetGeneration(old.GetGeneration() + 1)
	}
}

// ends reports whether an update removes an object: a deletion has begun, and the grace period and all
// finalizers are gone.
func (k kind) ends(old, updated apiObject) bool {
	return old.GetDeletionTimestamp() != nil && value(old.GetDeletionGracePeriodSeconds()) == 0 &&
		len(updated.GetFinalizers()) == 0 && !k.heldBySpec(updated)
}

// replace stores an update. If the update removes the last finalizer of an object that is being deleted, the
// object is removed instead, and the rest of the update is not stored. The result then has the previous
// version.
func (m *model) replace(c *collection, w writing, old, updated apiObject) apiObject {
	path := pathOf(old.GetNamespace(), old.GetName())
	switch {
	case c.kind.ends(old, updated):
		m.commit(c, w, &change{path: path, old: old})
		return updated
	case equality.Semantic.DeepEqual(old, updated):
		return old
	}
	return m.commit(c, w, &change{path: path, old: old, new: updated})
}

// get returns a view of an object. A version in the request is a minimum.
func (m *model) get(r schema.GroupVersionResource, namespace, name string, v view, version string) (apiObject, error) {
	asked, err := parseVersion(version)
	if err != nil {
		return nil, errPlain(err.Error())
	}
	if asked > m.version {
		return nil, errTooLarge(asked, m.version)
	}
	_, obj, err := m.find(r, namespace, name)
	if err != nil {
		return nil, err
	}
	return v.show(obj), nil
}

func (m *model) find(r schema.GroupVersionResource, namespace, name string) (*collection, apiObject, error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return nil, nil, err
	}
	obj := c.current(pathOf(namespace, name))
	if obj == nil || obj.GetName() != name { // no namespace, and a name with a slash
		return nil, nil, errNotFound(c.kind, name)
	}
	return c, obj, nil
}

// commit gives a change the next version and stores it.
func (m *model) commit(c *collection, w writing, ch *change) apiObject {
	if w.dryRun {
		return ch.new
	}
	m.version++
	ch.version = m.version
	if ch.new != nil {
		ch.new.SetResourceVersion(format(ch.version))
	}
	c.apply(ch)
	return ch.new
}

// incoming copies a client's object into the request's namespace, without the fields that clients cannot set.
func incoming(k kind, namespace string, obj apiObject) (apiObject, error) {
	in, err := copyIn(obj)
	if err != nil {
		return nil, err
	}
	in.GetObjectKind().SetGroupVersionKind(k.object.GetObjectKind().GroupVersionKind())
	in.SetSelfLink("")
	if own := in.GetNamespace(); own != "" && namespace != "" && own != namespace {
		return nil, errOtherNamespace()
	}
	in.SetNamespace(namespace)
	if k.normalize != nil {
		k.normalize(in)
	}
	return in, nil
}

// copyIn copies a client's object. The values in an unstructured object may have any type. They are converted
// as JSON would convert them, and the metadata must have the right form.
func copyIn(obj apiObject) (apiObject, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return copyOf(obj), nil
	}
	if err := checkMetadata(u); err != nil {
		return nil, err
	}
	text, err := u.MarshalJSON()
	if err != nil {
		return nil, errMalformed(err)
	}
	in := &unstructured.Unstructured{}
	if err := in.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return in, dropUnknownMetadata(in)
}

// dropUnknownMetadata removes unknown fields from the metadata.
func dropUnknownMetadata(u *unstructured.Unstructured) error {
	about, ok := u.Object["metadata"]
	if !ok {
		return nil
	}
	var known metav1.PartialObjectMetadata
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": about}, &known); err != nil {
		return errMalformed(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&known)
	if err != nil {
		return err
	}
	u.Object["metadata"] = content["metadata"]
	return nil
}

// checkMetadata returns an error if the metadata has the wrong form.
func checkMetadata(u *unstructured.Unstructured) error {
	text, err := u.MarshalJSON()
	if err != nil {
		return errMalformed(err)
	}
	if err := json.Unmarshal(text, &metav1.PartialObjectMetadata{}); err != nil {
		return errMalformed(err)
	}
	return nil
}

// validate checks the metadata by rules common to all kinds, and the finalizers by the kind's rules.
func (c *collection) validate(obj apiObject) field.ErrorList {
	problems := validation.ValidateObjectMetaAccessor(obj, c.kind.Namespaced, validateName, field.NewPath("metadata"))
	return append(problems, c.kind.checkFinalizers(obj)...)
}

// validateUpdate checks the metadata of an update. An object that is being deleted cannot get new finalizers,
// and an update cannot begin or undo a deletion.
func (c *collection) validateUpdate(obj, old apiObject) field.ErrorList {
	return append(c.validate(obj), validation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))...)
}

// validateName applies the rules that the names of all kinds obey. Many kinds are stricter.
func validateName(name string, isPrefix bool) []string {
	if isPrefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// meets compares an object with a client's preconditions. An empty value, or version "0", is not a
// precondition.
func meets(k kind, obj apiObject, uid types.UID, version string) error {
	if uid != "" && uid != obj.GetUID() {
		return errOtherUID(k, obj.GetName(), uid, obj.GetUID())
	}
	if version != "" && version != "0" && version != obj.GetResourceVersion() {
		return errConflict(k, obj.GetName())
	}
	return nil
}
