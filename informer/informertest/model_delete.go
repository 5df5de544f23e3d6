package informertest

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// delete removes an object and returns its last state, with gone set. If finalizers or a grace period keep
// the object, it is only marked, and returned as marked. Finalizers keep it until an update removes the last
// one, and a grace period keeps it until a deletion with a period of zero.
func (m *model) delete(r schema.GroupVersionResource, namespace, name string, w writing, o metav1.DeleteOptions) (obj apiObject, gone bool, err error) {
	c, old, err := m.find(r, namespace, name)
	if err != nil {
		return nil, false, err
	}
	p := value(o.Preconditions)
	if err := meets(c.kind, old, value(p.UID), value(p.ResourceVersion)); err != nil {
		return nil, false, err
	}
	last, kept := c.kind.mark(old, w, o)
	if last != old {
		last = m.replace(c, w, old, last)
	}
	if kept {
		return last, false, nil
	}
	ch := &change{path: pathOf(namespace, name), old: last}
	m.commit(c, w, ch)
	if c.kind.answersDeleted && !w.dryRun {
		last = deletedAt(last, ch.version)
	}
	return last, true, nil
}

// deletedAt returns the last state of a deleted object, with the version of its deletion.
func deletedAt(last apiObject, version uint64) apiObject {
	gone := copyOf(last)
	gone.SetResourceVersion(format(version))
	return gone
}

// mark returns an object as a delete request leaves it, and reports whether something still keeps it. It
// returns old itself if the object does not change before it is removed.
func (k kind) mark(old apiObject, w writing, o metav1.DeleteOptions) (marked apiObject, kept bool) {
	begun, finalizers := old.GetDeletionTimestamp() != nil, k.finalizers(old, o)
	switch byTest := w.view == viewWhole; {
	case begun && k.heldBySpec(old):
		return old, true
	case k.specFinalizers && !begun && (!byTest || k.heldBySpec(old)):
		return terminate(old, w.now, finalizers), true
	case value(old.GetDeletionGracePeriodSeconds()) > 0, k.grace != nil && !begun && !byTest:
		return k.markGracefully(old, w.now, o.GracePeriodSeconds, finalizers)
	case len(finalizers) == 0:
		return old, false
	}
	marked = copyOf(old)
	marked.SetFinalizers(finalizers)
	if !begun {
		beginDeletion(marked, w.now, 0)
	}
	return marked, true
}

// finalizers returns an object's finalizers after a delete request. Two of them are for the garbage
// collector. They tell it what to do with dependents.
func (k kind) finalizers(obj apiObject, o metav1.DeleteOptions) []string {
	collectors := []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	others := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return slices.Contains(collectors, f) })
	orphan, policy := o.OrphanDependents, value(o.PropagationPolicy) //nolint:staticcheck // old clients set it
	switch {
	case k.uncollected:
	case orphan != nil && *orphan, orphan == nil && policy == metav1.DeletePropagationOrphan:
		return append(others, metav1.FinalizerOrphanDependents)
	case orphan == nil && policy == metav1.DeletePropagationForeground:
		return append(others, metav1.FinalizerDeleteDependents)
	case orphan == nil && policy == "":
		return obj.GetFinalizers()
	}
	return others
}

// deleteCollection deletes the objects of a list, and returns that list.
func (m *model) deleteCollection(r schema.GroupVersionResource, namespace string, w writing, o metav1.DeleteOptions, of internalversion.ListOptions) (kind, page, error) {
	k, found, err := m.list(r, namespace, of)
	if err != nil {
		return kind{}, page{}, err
	}
	for _, item := range found.objects {
		obj := item.(apiObject)
		if _, _, err := m.delete(r, obj.GetNamespace(), obj.GetName(), w, o); err != nil && !apierrors.IsNotFound(err) {
			return kind{}, page{}, err
		}
	}
	return k, found, nil
}
