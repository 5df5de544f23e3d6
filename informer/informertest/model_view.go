package informertest

import autoscalingv1 "k8s.io/api/autoscaling/v1"

// view is the part of an object that a request reads or writes: the object, a subresource, or everything, as
// the methods of a [Server] do.
type view int

const (
	viewWhole    view = iota // everything, for the methods of a Server
	viewMain                 // the object, without the status if that is a subresource
	viewStatus               // the status
	viewScale                // the number of replicas
	viewFinalize             // everything except the status: a Namespace with the finalizers in its spec
)

// viewOf returns the view of a subresource, if the kind has it.
func (k kind) viewOf(subresource string) (v view, ok bool) {
	switch subresource {
	case "":
		return viewMain, true
	case "status":
		return viewStatus, k.Status
	case "scale":
		return viewScale, k.Scale
	case "finalize":
		return viewFinalize, k.specFinalizers
	}
	return 0, false
}

// versioned reports whether an update through the view replaces a version of the object.
func (v view) versioned() bool { return v == viewMain || v == viewStatus }

// seen returns the kind of a view's objects.
func (k kind) seen(v view) kind {
	if v == viewScale {
		return k.scaleKind()
	}
	return k
}

// show returns the view of an object.
func (v view) show(obj apiObject) apiObject {
	if v == viewScale {
		return scaleOf(obj)
	}
	return obj
}

// replace returns the result of writing in through the view. It may change and return in. It does not change
// old.
func (v view) replace(k kind, old, in apiObject) (apiObject, error) {
	switch v {
	case viewScale:
		return setReplicas(k, old, in.(*autoscalingv1.Scale))
	case viewStatus:
		changed := copyOf(old)
		setStatus(changed, in)
		return changed, nil
	case viewMain:
		if k.Status {
			setStatus(in, old)
		}
		if k.specFinalizers {
			keepSpecFinalizers(in, old)
		}
	case viewFinalize:
		setStatus(in, old)
	}
	return in, nil
}
