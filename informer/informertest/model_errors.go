package informertest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The errors have kube-apiserver's codes, reasons and causes, and mostly its texts, because clients may
// depend on them.

func (k kind) resource() schema.GroupResource { return k.GVR.GroupResource() }

func errNotServed() *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, false)
}

// errPlain returns an error that kube-apiserver reports as a 500 without a reason.
func errPlain(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: message}}
}

func errNotFound(k kind, name string) *apierrors.StatusError {
	return apierrors.NewNotFound(k.resource(), name)
}

func errExists(k kind, name string) *apierrors.StatusError {
	return apierrors.NewAlreadyExists(k.resource(), name)
}

func errConflict(k kind, name string) *apierrors.StatusError {
	return apierrors.NewConflict(k.resource(), name, errStale)
}

func errOtherUID(k kind, name string, believed, uid types.UID) *apierrors.StatusError {
	return apierrors.NewConflict(k.resource(), name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
		"The object might have been deleted and then recreated", believed, uid))
}

func errChangedUID(k kind, obj apiObject) *apierrors.StatusError {
	return errInvalid(k, obj.GetName(), field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), obj.GetUID(), "field is immutable")})
}

func errInvalid(k kind, name string, problems field.ErrorList) *apierrors.StatusError {
	return apierrors.NewInvalid(k.GVK.GroupKind(), name, problems)
}

// errNoVersion names the resource instead of the kind, as kube-apiserver does.
func errNoVersion(k kind, name string) *apierrors.StatusError {
	return apierrors.NewInvalid(schema.GroupKind{Group: k.GVR.Group, Kind: k.GVR.Resource}, name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

func errVersionOnCreate() *apierrors.StatusError {
	return errPlain("resourceVersion should not be set on objects to be created")
}

func errOtherNamespace() *apierrors.StatusError {
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

func errOtherName(name, inPath string) *apierrors.StatusError {
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, inPath))
}

func errOtherKind(gvk schema.GroupVersionKind) *apierrors.StatusError {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
}

func errMalformed(err error) *apierrors.StatusError { return apierrors.NewBadRequest(err.Error()) }

// errUnprocessable returns the error for a patch that cannot be applied to its object.
func errUnprocessable(err error) *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(422, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// errPatched returns the error for a patch whose result is not an object of the kind.
func errPatched(text []byte, err error) *apierrors.StatusError {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(text), err.Error())})
}

func errUnknownField(k kind, label string) *apierrors.StatusError {
	if k.Fields == nil && !k.declaresFields {
		return apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace"))
	}
	return apierrors.NewBadRequest("field label not supported: " + label)
}

func errInvalidOptions(problems field.ErrorList) *apierrors.StatusError {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", problems)
}

// errBadShards returns the error for a shardSelector that kube-apiserver cannot read. As there, it is a 500,
// although the client is at fault.
func errBadShards(problem string) *apierrors.StatusError {
	return errPlain("invalid shard selector: " + problem)
}

func errBadVersion(err error) *apierrors.StatusError {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
}

func errBadToken(err error) *apierrors.StatusError {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: %v", err))
}

func errTokenWithVersion() *apierrors.StatusError {
	return apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
}

// errTooLarge returns a timeout. kube-apiserver first waits three seconds, in case its own version is only a
// little behind. The model does not wait.
func errTooLarge(asked, version uint64) *apierrors.StatusError {
	err := apierrors.NewTimeoutError("Too large resource version: "+format(asked)+", current: "+format(version), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

func errListExpired() *apierrors.StatusError {
	return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}

func errWatchExpired(asked, oldest uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", asked, oldest))
}

// errTokenExpired returns an error with a new token, which continues the list at the current state.
func errTokenExpired(t token) *apierrors.StatusError {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
		"the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
		"were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.Continue = t.String()
	return err
}
