package informertest

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Create stores an object, including its status, and sets obj to the stored object with its version and UID.
func (s *Server) Create(ctx context.Context, obj runtime.Object) error {
	return s.put(ctx, obj, func(k kind, obj apiObject) (apiObject, error) {
		return s.model.create(k.GVR, namespaceOf(k, obj), byTest(), obj)
	})
}

// Update replaces an object and its status in one write, which clients cannot do. If obj has a version, it
// must be the current version. Update sets obj to the stored object.
func (s *Server) Update(ctx context.Context, obj runtime.Object) error {
	return s.put(ctx, obj, func(k kind, obj apiObject) (apiObject, error) {
		return s.model.update(k.GVR, namespaceOf(k, obj), byTest(), obj)
	})
}

// Delete removes the object with obj's namespace and name, at any version and without a grace period. If the
// object has finalizers, or is a Namespace with finalizers in its spec, it gets a deletionTimestamp, and is
// removed with the last finalizer. Delete does not change obj.
func (s *Server) Delete(ctx context.Context, obj runtime.Object) error {
	k, named, err := s.kindOf(obj)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, func() (apiObject, error) {
		last, _, err := s.model.delete(k.GVR, namespaceOf(k, named), named.GetName(), byTest(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		return last, err
	})
	return err
}

// Get reads an object into obj. The Go type of obj determines the kind.
func (s *Server) Get(ctx context.Context, namespace, name string, obj runtime.Object) error {
	k, into, err := s.kindOf(obj)
	if err != nil {
		return err
	}
	found, err := s.read(ctx, func() (apiObject, error) {
		return s.model.get(k.GVR, namespace, name, viewWhole, "")
	})
	if err != nil {
		return err
	}
	assign(into, found)
	return nil
}

// put stores obj, and sets it to the stored object.
func (s *Server) put(ctx context.Context, obj runtime.Object, do func(kind, apiObject) (apiObject, error)) error {
	k, into, err := s.kindOf(obj)
	if err != nil {
		return err
	}
	stored, err := s.write(ctx, func() (apiObject, error) { return do(k, into) })
	if err != nil {
		return err
	}
	assign(into, stored)
	return nil
}

// read reads an object from the model.
func (s *Server) read(ctx context.Context, do func() (apiObject, error)) (apiObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openLocked(ctx); err != nil {
		return nil, err
	}
	return do()
}

// write changes the model, and notifies the watches.
func (s *Server) write(ctx context.Context, do func() (apiObject, error)) (apiObject, error) {
	return s.read(ctx, func() (apiObject, error) {
		obj, err := do()
		if err == nil {
			s.wakeLocked()
		}
		return obj, err
	})
}

// deleteCollection deletes the objects of a list, and returns that list. It shares the items.
func (s *Server) deleteCollection(ctx context.Context, t target, w writing, o metav1.DeleteOptions, of internalversion.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openLocked(ctx); err != nil {
		return nil, err
	}
	k, found, err := s.model.deleteCollection(t.resource, t.namespace, w, o, of)
	s.wakeLocked() // even after an error, some objects may be deleted
	if err != nil {
		return nil, err
	}
	return k.listOf(found)
}

// namespaceOf returns the namespace that a client puts into the path of a request.
func namespaceOf(k kind, obj apiObject) string {
	if !k.Namespaced {
		return ""
	}
	return obj.GetNamespace()
}

// byTest describes a write by the server's own methods.
func byTest() writing { return writing{view: viewWhole, now: now(), manager: "informertest"} }

// now returns the time as clients decode it from objects: in whole seconds, and in the local time zone.
func now() metav1.Time { return metav1.Unix(time.Now().Unix(), 0) }

// assign copies an object into another one of the same type.
func assign(into, from apiObject) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(copyOf(from)).Elem())
}
