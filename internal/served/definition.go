package served

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// listPatience is how long a list of the definition, or a discovery, may take.
	listPatience = 30 * time.Second
	// watchLasts is the timeout a watch of the definition is requested with; watchPatience is how
	// long to wait after it.
	watchLasts    = 5 * time.Minute
	watchPatience = 30 * time.Second
	// longWatch is the age from which the end of a watch is no failure.
	longWatch = time.Minute
)

// follow lists a definition by its name and then watches it, until the watch ends. It passes each
// finding to tell.
func follow(ctx context.Context, c Client, name string, tell func(input)) {
	asked := time.Now()
	version, err := list(ctx, c, name, tell)
	if err == nil {
		asked = time.Now()
		err = watchOne(ctx, c, name, version, tell)
	}
	if isRefusal(err) {
		tell(input{kind: inRefused})
		return
	}
	tell(input{kind: inBroken, lasted: time.Since(asked) >= longWatch})
}

// isRefusal reports whether definitions may not be read, or do not exist on the server.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// list reads the definition from etcd, to avoid conclusions from an old state, and returns the version
// to watch from.
func list(ctx context.Context, c Client, name string, tell func(input)) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	all, err := c.List(ctx, selecting(name))
	if err != nil {
		return "", err
	}
	found := input{kind: inUndefined}
	err = meta.EachListItem(all, func(one runtime.Object) error {
		if nameOf(one) == name {
			found = seen(one)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	at, err := meta.ListAccessor(all)
	if err != nil {
		return "", err
	}
	if at.GetResourceVersion() == "" {
		return "", ErrNotDefinitions
	}
	tell(found)
	return at.GetResourceVersion(), nil
}

// watchOne watches the definition from a version on, until the watch ends.
func watchOne(ctx context.Context, c Client, name, version string, tell func(input)) error {
	ctx, cancel := context.WithTimeout(ctx, watchLasts+watchPatience)
	defer cancel()
	o := selecting(name)
	seconds := int64(watchLasts / time.Second)
	o.ResourceVersion, o.AllowWatchBookmarks, o.TimeoutSeconds = version, true, &seconds
	w, err := c.Watch(ctx, o)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.ResultChan():
			switch {
			case !ok:
				return nil
			case e.Type == watch.Error:
				return apierrors.FromObject(e.Object)
			case e.Type == watch.Bookmark, nameOf(e.Object) != name:
			case e.Type == watch.Deleted:
				tell(input{kind: inDropped})
			default:
				tell(seen(e.Object))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func selecting(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
}

// nameOf returns the name of a definition. A server without field selectors sends other definitions,
// too.
func nameOf(obj runtime.Object) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetName()
}

// seen returns the input for a definition that exists.
func seen(obj runtime.Object) input {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return input{kind: inOpaque}
	}
	in := input{kind: inDefined}
	if !established(u) {
		return in
	}
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _, _ := unstructured.NestedString(v, "name")
		if served, _, _ := unstructured.NestedBool(v, "served"); served && name != "" {
			in.versions = append(in.versions, name)
		}
	}
	return in
}

// established reports whether the server has begun to serve a definition's resource.
func established(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		kind, _, _ := unstructured.NestedString(c, "type")
		status, _, _ := unstructured.NestedString(c, "status")
		if kind == "Established" {
			return status == "True"
		}
	}
	return false
}

// discovered asks discovery, and returns the result as an input.
func (r *Resource) discovered(ctx context.Context) input {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	versions, err := discover(ctx, r.client, r.resource.GroupResource())
	if err != nil {
		return input{kind: inUndiscovered}
	}
	return input{kind: inDiscovered, versions: versions}
}
