package show

import "github.com/tidemark-k8s/tidemark/factory"

// IsSecret reports whether an informer's objects are Secrets, or may be.
func IsSecret(h factory.Held) bool {
	switch {
	case !h.Resource.Empty():
		return h.Resource.Group == "" && h.Resource.Resource == "secrets"
	case h.Type == nil:
		return true
	}
	object := h.Type.String()
	return object == "*v1.Secret" || object == "*unstructured.Unstructured" || object == "*v1.PartialObjectMetadata"
}

// WithoutFields returns an informer without the field selector of its scope, if its objects may be
// Secrets, and a text in place of the selector; "" if nothing is hidden.
func WithoutFields(h factory.Held) (shown factory.Held, hidden string) {
	if h.Scope.Fields == "" || !IsSecret(h) {
		return h, ""
	}
	h.Scope.Fields = ""
	return h, " with some fields (hidden)"
}
