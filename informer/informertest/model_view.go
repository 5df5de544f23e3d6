package informertest

import autoscalingv1 "k8s.io/api/autoscaling/v1"

// view is the way by which an object is read and written: the last part of
// the path of a request, or the methods of a [Server].
type view int

const (
	viewWhole  view = iota // a test's: nothing is out of reach
	viewMain               // the resource itself: all but the status, if that has a subresource
	viewStatus             // nothing but the status
	viewScale              // nothing but the number of replicas
)

// viewOf finds the view of a subresource that a kind has.
func (k kind) viewOf(subresource string) (v view, ok bool) {
	switch subresource {
	case "":
		return viewMain, true
	case "status":
		return viewStatus, k.Status
	case "scale":
		return viewScale, k.Scale
	}
	return 0, false
}

// seen is the kind of what a view shows.
func (k kind) seen(v view) kind {
	if v == viewScale {
		return k.scaleKind()
	}
	return k
}

// show returns what a view shows of an object.
func (v view) show(obj Object) Object {
	if v == viewScale {
		return scaleOf(obj)
	}
	return obj
}

// replace returns what becomes of an object when in is written through the
// view. It may change in, and leaves old as it is.
func (v view) replace(k kind, old, in Object) (Object, error) {
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
	}
	return in, nil
}
