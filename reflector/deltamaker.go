package reflector

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// deltaMaker turns the objects of a source into deltas. It is immutable.
type deltaMaker struct {
	// fits returns an error for an object the sink cannot take; nil accepts all objects.
	fits func(runtime.Object) error
	// object and kind, if set, are required of the objects of a watch. Objects of lists may
	// differ, as in client-go (B51: the type of a list's items is not checked).
	object reflect.Type
	kind   schema.GroupVersionKind
	// drop has the fields to remove from objects that a client has decoded.
	drop *fields.Set
}

func newDeltaMaker(o Options) deltaMaker {
	drop, _ := fields.Parse(o.Drop...) // Run validates it
	return deltaMaker{fits: o.Check, object: o.Type, kind: o.Expect, drop: drop}
}

// fromWatch turns an object of a watch into a delta. After an error the delta is invalid.
func (d deltaMaker) fromWatch(delta *deltafifo.Delta, op deltafifo.Op, obj runtime.Object) error {
	err := d.fromObject(delta, op, obj)
	if err == nil {
		err = d.check(obj)
	}
	if err != nil {
		return fmt.Errorf("%v event of %s: %w", op, nameOf(obj), err)
	}
	return nil
}

// check returns an error for an object of a watch if it is not of the requested kind.
func (d deltaMaker) check(obj runtime.Object) error {
	if got := reflect.TypeOf(obj); d.object != nil && got != d.object {
		return fmt.Errorf("%w: a %v instead of a %v", ErrUnexpected, got, d.object)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return checkKind(u, d.kind)
	}
	return nil
}

// fromReceived turns an event of a watch into a delta. An undecodable object is Poisoned, unless
// the event is a deletion. After an error the delta is invalid.
func (d deltaMaker) fromReceived(delta *deltafifo.Delta, op deltafifo.Op, a *wire.Received) error {
	switch {
	case a.Unexpected != nil:
		return fmt.Errorf("%v event of %v: %w", op, a.ID.Key, a.Unexpected)
	case !a.ReadHere:
		return d.fromWatch(delta, op, d.cut(a.Object))
	}
	if a.Object != nil {
		err := d.fromWatch(delta, op, a.Object)
		if a.Packed != nil {
			delta.Object = a.Packed
		}
		return err
	}
	delta.Op, delta.Key, delta.UID, delta.Version = op, a.ID.Key, a.ID.UID, a.ID.Version
	switch {
	case a.Packed != nil:
		delta.Object = a.Packed
	case a.Known != nil:
		delta.Object, delta.Recalled = a.Known, true
	case op == deltafifo.Deleted:
		delta.Lost = true
	default:
		delta.Op = deltafifo.Poisoned
	}
	return nil
}

// cut removes the fields to drop from an object that a client has decoded. It changes a copy,
// because others may share the object.
func (d deltaMaker) cut(obj runtime.Object) runtime.Object {
	if d.drop == nil || obj == nil {
		return obj
	}
	obj = obj.DeepCopyObject()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		d.drop.Cut(u.Object)
	} else {
		d.drop.Cut(obj)
	}
	return obj
}

// fromObject turns an object of a list into a delta.
func (d deltaMaker) fromObject(delta *deltafifo.Delta, op deltafifo.Op, obj runtime.Object) error {
	if d.fits != nil {
		if err := d.fits(obj); err != nil {
			return fmt.Errorf("%w: %w", ErrUnexpected, err)
		}
	}
	m := object.Meta(obj)
	if m == nil {
		return fmt.Errorf("%w: a %T without metadata", ErrUnexpected, obj)
	}
	delta.Op, delta.Object = op, obj
	delta.Key = object.Key(m)
	delta.UID, delta.Version = string(m.GetUID()), m.GetResourceVersion()
	return nil
}

// nameOf names obj for a message.
func nameOf(obj runtime.Object) string {
	m := object.Meta(obj)
	if m == nil {
		return "a nameless object"
	}
	return object.Key(m).String()
}

func checkKind(u *unstructured.Unstructured, expect schema.GroupVersionKind) error {
	got := u.GroupVersionKind()
	if wire.IsTable(got) {
		return wire.ErrTable
	}
	if !expect.Empty() && got != expect {
		return fmt.Errorf("%w: a %v instead of a %v", ErrUnexpected, got, expect)
	}
	return nil
}
