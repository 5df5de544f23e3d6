package informertest

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// serveBuiltins registers the built-in kinds that the scheme knows.
func (s *Server) serveBuiltins() {
	for _, k := range builtinKinds() {
		if !s.scheme.Recognizes(k.GVK) {
			continue
		}
		if resolved, err := resolve(s.scheme, k); err == nil {
			resolved.builtin, resolved.traits, resolved.types = true, traitsOf(k.GVR.GroupResource()), builtinTypes
			s.model.register(resolved)
		}
	}
}

// Register adds a kind to the server, like a CRD in a cluster. If the server's scheme has a Go type for the
// kind, it must also have the list type, whose name is the kind's name with "List" appended. Without a Go
// type, the objects are *unstructured.Unstructured.
func (s *Server) Register(k Kind) error {
	resolved, err := resolve(s.scheme, k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, c := range s.model.collections {
		if r == k.GVR || c.kind.GVK == k.GVK {
			return fmt.Errorf("%w: %s of %s is already served", ErrKind, r, c.kind.GVK)
		}
	}
	s.model.register(resolved)
	return nil
}

// Unregister removes a kind from the server, like the deletion of a CRD. The server deletes the kind's
// objects, ends its watches after their Deleted events, and answers later requests with 404. A kind that is
// registered again starts empty and without a history.
func (s *Server) Unregister(r schema.GroupVersionResource) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model.collections[r] == nil {
		return fmt.Errorf("%w: %s is not served", ErrKind, r)
	}
	s.model.unregister(r)
	s.wakeLocked()
	return nil
}

// resolve finds the Go types of a kind in a scheme. Without Go types, the kind is unstructured.
func resolve(scheme *runtime.Scheme, k Kind) (kind, error) {
	if k.GVR.Version == "" || k.GVR.Resource == "" || k.GVK.Kind == "" || k.GVR.GroupVersion() != k.GVK.GroupVersion() {
		return kind{}, fmt.Errorf("%w: resource %q and kind %q need names, and the same group and version", ErrKind, k.GVR, k.GVK)
	}
	if !scheme.Recognizes(k.GVK) {
		return untyped(k), nil
	}
	made, err := scheme.New(k.GVK)
	if err != nil {
		return kind{}, fmt.Errorf("%w: %w", ErrKind, err)
	}
	object, ok := made.(apiObject)
	if !ok {
		return kind{}, fmt.Errorf("%w: %T has no metadata", ErrKind, made)
	}
	resolved := kind{Kind: k, traits: customTraits, object: object, types: managedfields.NewDeducedTypeConverter}
	resolved.list, err = scheme.New(resolved.listGVK())
	if err != nil {
		return kind{}, fmt.Errorf("%w: Options.Scheme lacks the type of the list: %w", ErrKind, err)
	}
	if !meta.IsListType(resolved.list) {
		return kind{}, fmt.Errorf("%w: %T is not a list", ErrKind, resolved.list)
	}
	if k.Status && !goField(object, "Status").IsValid() || k.Scale && !canScale(object) {
		return kind{}, fmt.Errorf("%w: %T lacks the fields of its subresources", ErrKind, object)
	}
	return resolved, nil
}

// untyped returns a kind without a Go type.
func untyped(k Kind) kind {
	object, list := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
	resolved := kind{Kind: k, traits: customTraits, object: object, list: list, types: managedfields.NewDeducedTypeConverter}
	object.SetGroupVersionKind(k.GVK)
	list.SetGroupVersionKind(resolved.listGVK())
	return resolved
}

// kindOf returns the kind of a test's object, and the object as an apiObject.
func (s *Server) kindOf(obj runtime.Object) (kind, apiObject, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u == nil {
		return kind{}, nil, fmt.Errorf("%w: the object is nil", ErrKind)
	}
	with, ok := obj.(apiObject)
	if !ok {
		return kind{}, nil, fmt.Errorf("%w: %T has no metadata", ErrKind, obj)
	}
	known, _, err := s.scheme.ObjectKinds(obj)
	if err != nil {
		return kind{}, nil, fmt.Errorf("%w: Options.Scheme lacks the type: %w", ErrKind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.model.collections {
		if c.kind.GVK == known[0] && reflect.TypeOf(c.kind.object) == reflect.TypeOf(obj) {
			return c.kind, with, nil
		}
	}
	return kind{}, nil, fmt.Errorf("%w: %T is not registered", ErrKind, obj)
}

// served returns the kinds by group and version, for discovery.
func (s *Server) served() map[schema.GroupVersion][]kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[schema.GroupVersion][]kind{}
	for r, c := range s.model.collections {
		all[r.GroupVersion()] = append(all[r.GroupVersion()], c.kind)
	}
	return all
}
