package show

import (
	"slices"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// IsSecret reports whether an informer's objects are Secrets, or may be Secrets.
func IsSecret(h factory.Held) bool {
	switch {
	case !h.Resource.Empty():
		return object.IsSecrets(h.Resource.GroupResource())
	case h.Type == nil:
		return true
	}
	t := h.Type.String()
	return t == "*v1.Secret" || t == "*unstructured.Unstructured" || t == "*v1.PartialObjectMetadata"
}

// WithoutNames returns an informer without the names of objects that are Secrets or may be. In its Scope and
// Status, it hides the field selector, and everything but the class of an error.
func WithoutNames(h factory.Held) factory.Held {
	if !IsSecret(h) {
		return h
	}
	if h.Scope.Fields != "" {
		h.Scope.Fields = "some fields " + hidden
	}
	s := &h.Status
	if s.LastError != nil {
		s.LastError = classError(reflector.ClassOf(s.LastError))
	}
	s.Failing = slices.Clone(s.Failing)
	for i := range s.Failing {
		s.Failing[i].Err = classError(s.Failing[i].Class)
	}
	s.UnindexedErrors = slices.Clone(s.UnindexedErrors)
	for i, e := range s.UnindexedErrors {
		s.UnindexedErrors[i] = &indexer.IndexError{Index: e.Index, Key: HideName(e.Key)}
	}
	return h
}

const hidden = "(hidden)"

// HideName returns a key without the object's name.
func HideName(k indexer.Key) indexer.Key {
	k.Name = hidden
	return k
}

// classError is an error without its text.
type classError reflector.ErrorClass

func (c classError) Error() string {
	if text, known := classes[reflector.ErrorClass(c)]; known {
		return text
	}
	return "It failed. The error may name an object: see the log." // or an error in the options
}

// classes explain the classes of errors.
var classes = map[reflector.ErrorClass]string{
	reflector.ErrorExpired:      "The server no longer has the requested version.",
	reflector.ErrorBusy:         "The server is overloaded (429).",
	reflector.ErrorForbidden:    "The server does not allow it (403).",
	reflector.ErrorUnauthorized: "The server does not accept the credentials (401).",
	reflector.ErrorNotServed:    "The server does not have the resource (404).",
	reflector.ErrorInvalid:      "The server does not understand the request.",
	reflector.ErrorServer:       "The server failed.",
	reflector.ErrorTimeout:      "The request timed out.",
	reflector.ErrorConnection:   "The connection was refused or cut.",
	reflector.ErrorDecode:       "The response cannot be decoded.",
}

// ClassText explains the class of an error.
func ClassText(c reflector.ErrorClass) string {
	if text, known := classes[c]; known {
		return text
	}
	return "A list or watch failed."
}
