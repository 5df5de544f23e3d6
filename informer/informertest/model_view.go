package informertest

import autoscalingv1 "k8s.io/api/autoscaling/v1"

// view is a way to read and write an object: a subresource at the end of a request's path, or the
// methods of a [Server].
type view int

const (
	viewWhole  view = iota // a test's: nothing is out of reach
	viewMain               // the resource itself: all but the status, if that has a subresource
	viewStatus             // nothing but the status
	viewScale              // nothing but the number of replicas
)

// viewOf returns the view of a kind's subresource.
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

// seen returns the kind of a view's objects.
func (k kind) seen(v view) kind {
	if v == viewScale {
		return k.scaleKind()
	}
	return k
}

// show returns a view of an object.
func (v view) show(obj Object) Object {
	if v == viewScale {
		return scaleOf(obj)
	}
	return obj
}

// replace returns the result of writing in through the view, in place of old. It may change in,
// and does not change old.
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
