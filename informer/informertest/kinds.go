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
			resolved.builtin, resolved.types = true, builtinTypes
			s.model.register(resolved)
		}
	}
}

// Register makes the server serve one more kind, as a CRD does. If the kind's Go type is in the
// server's scheme, the type of its list must be there too, under the kind's name with "List"
// appended. Otherwise its objects are *unstructured.Unstructured.
func (s *Server) Register(k Kind) error {
	resolved, err := resolve(s.scheme, k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, c := range s.model.collections {
		if r == k.GVR || c.kind.GVK == k.GVK {
			return fmt.Errorf("%w: %s of %s is served already", ErrKind, r, c.kind.GVK)
		}
	}
	s.model.register(resolved)
	return nil
}

// Unregister removes a kind, as the deletion of a CRD does: its objects are deleted, its watches
// send the deletions and end, and requests for it are answered with 404. If it is registered
// again, it is empty.
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

// resolve sets a kind's Go types from a scheme, if they are there.
func resolve(scheme *runtime.Scheme, k Kind) (kind, error) {
	if k.GVR.Version == "" || k.GVR.Resource == "" || k.GVK.Kind == "" || k.GVR.GroupVersion() != k.GVK.GroupVersion() {
		return kind{}, fmt.Errorf("%w: resource %q and kind %q do not go together", ErrKind, k.GVR, k.GVK)
	}
	if !scheme.Recognizes(k.GVK) {
		return untyped(k), nil
	}
	made, err := scheme.New(k.GVK)
	if err != nil {
		return kind{}, fmt.Errorf("%w: %w", ErrKind, err)
	}
	object, ok := made.(Object)
	if !ok {
		return kind{}, fmt.Errorf("%w: %T has no metadata", ErrKind, made)
	}
	resolved := kind{Kind: k, object: object, types: managedfields.NewDeducedTypeConverter}
	resolved.list, err = scheme.New(resolved.listGVK())
	if err != nil {
		return kind{}, fmt.Errorf("%w: %w", ErrKind, err)
	}
	if !meta.IsListType(resolved.list) {
		return kind{}, fmt.Errorf("%w: %T is not a list", ErrKind, resolved.list)
	}
	if k.Status && !goField(object, "Status").IsValid() || k.Scale && !canScale(object) {
		return kind{}, fmt.Errorf("%w: %T lacks what its subresources are for", ErrKind, object)
	}
	return resolved, nil
}

// untyped is a kind without a Go type.
func untyped(k Kind) kind {
	object, list := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
	resolved := kind{Kind: k, object: object, list: list, types: managedfields.NewDeducedTypeConverter}
	object.SetGroupVersionKind(k.GVK)
	list.SetGroupVersionKind(resolved.listGVK())
	return resolved
}

// kindOf returns the kind of a test's object.
func (s *Server) kindOf(obj Object) (kind, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u == nil {
		return kind{}, fmt.Errorf("%w: it is nil", ErrKind)
	}
	known, _, err := s.scheme.ObjectKinds(obj)
	if err != nil {
		return kind{}, fmt.Errorf("%w: %w", ErrKind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.model.collections {
		if c.kind.GVK == known[0] && reflect.TypeOf(c.kind.object) == reflect.TypeOf(obj) {
			return c.kind, nil
		}
	}
	return kind{}, fmt.Errorf("%w: %T is not registered", ErrKind, obj)
}

// served lists the served kinds, for discovery.
func (s *Server) served() map[schema.GroupVersion][]kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[schema.GroupVersion][]kind{}
	for r, c := range s.model.collections {
		all[r.GroupVersion()] = append(all[r.GroupVersion()], c.kind)
	}
	return all
}
