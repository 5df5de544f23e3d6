package informertest

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patch is a client's patch, with its patch type.
type patch struct {
	form types.PatchType
	body []byte
}

// patches returns the kind's patch types. A CRD has no strategic merge patch, because its schema does not say
// how lists merge.
func (k kind) patches() []types.PatchType {
	forms := []types.PatchType{types.JSONPatchType, types.MergePatchType}
	if k.builtin {
		forms = append(forms, types.StrategicMergePatchType)
	}
	return append(forms, types.ApplyYAMLPatchType)
}

// patch changes the view of an object, and returns the view of the result. A patch with a version other than
// the current one is a conflict. A patch with another UID is Invalid, although an update with another UID is
// a conflict.
func (m *model) patch(r schema.GroupVersionResource, namespace, name string, w writing, p patch) (apiObject, error) {
	c, old, err := m.find(r, namespace, name)
	if err != nil {
		return nil, err
	}
	patched, err := p.apply(c.kind.seen(w.view), w.view.show(old))
	if err != nil {
		return nil, err
	}
	if patched.GetName() != name {
		return nil, errOtherName(patched.GetName(), name)
	}
	if uid := patched.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, errChangedUID(c.kind, patched)
	}
	return m.update(r, namespace, w, patched)
}

// apply returns a patched copy of an object.
func (p patch) apply(k kind, obj apiObject) (apiObject, error) {
	text, err := json.Marshal(withKind(obj, k.GVK))
	if err != nil {
		return nil, err
	}
	switch p.form {
	case types.JSONPatchType:
		text, err = applyJSONPatch(text, p.body)
	case types.MergePatchType:
		text, err = applyMergePatch(text, p.body)
	default:
		text, err = applyStrategicPatch(text, p.body, k.object)
	}
	if err != nil {
		return nil, err
	}
	return p.result(k, text)
}

// result decodes a patched object. The patch must not have changed the kind; a strategic merge patch cannot.
func (p patch) result(k kind, text []byte) (apiObject, error) {
	patched, err := k.parse(text)
	if err != nil {
		return nil, errPatched(text, err)
	}
	if gvk := patched.GetObjectKind().GroupVersionKind(); p.form != types.StrategicMergePatchType && !k.names(gvk) {
		return nil, errPatched(text, fmt.Errorf("%s is not a %s", gvk, k.GVK.Kind))
	}
	return patched, nil
}

// names reports whether a kind and version from an object, which may both be missing, belong to the kind.
func (k kind) names(gvk schema.GroupVersionKind) bool {
	return (gvk.Kind == "" || gvk.Kind == k.GVK.Kind) && (gvk.Version == "" || gvk.GroupVersion() == k.GVK.GroupVersion())
}

func applyJSONPatch(text, body []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, errMalformed(err)
	}
	if text, err = operations.Apply(text); err != nil {
		return nil, errUnprocessable(err)
	}
	return text, nil
}

func applyMergePatch(text, body []byte) ([]byte, error) {
	text, err := jsonpatch.MergePatch(text, body)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, errMalformed(err)
	}
	return text, err
}

func applyStrategicPatch(text, body []byte, like apiObject) (patched []byte, err error) {
	defer func() { // strategicpatch panics on a null in a list
		if r := recover(); r != nil {
			err = errMalformed(fmt.Errorf("cannot apply the patch: %v", r))
		}
	}()
	patched, err = strategicpatch.StrategicMergePatch(text, body, like)
	switch {
	case errors.Is(err, mergepatch.ErrNoListOfLists):
		return nil, errUnprocessable(err)
	case err != nil:
		return nil, errMalformed(err)
	}
	return patched, nil
}

// parse decodes an object of the kind from JSON.
func (k kind) parse(text []byte) (apiObject, error) {
	obj := copyOf(k.object)
	var err error
	if u, ok := obj.(*unstructured.Unstructured); ok {
		err = u.UnmarshalJSON(text)
	} else {
		err = utiljson.Unmarshal(text, obj)
	}
	return obj, err
}
