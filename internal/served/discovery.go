package served

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discover returns the served versions of a resource; none if discovery succeeded without it.
func discover(ctx context.Context, get Documents, resource schema.GroupResource) (versions []string, err error) {
	all, err := versionsOf(ctx, get, resource.Group)
	if err != nil {
		return nil, err
	}
	for _, version := range all {
		var list metav1.APIResourceList
		err := read(ctx, get, schema.GroupVersion{Group: resource.Group, Version: version}, "APIResourceList", &list)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return watchable(r, resource.Resource) }) {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// watchable reports whether a discovered resource is the wanted one, and can be listed and watched.
func watchable(r metav1.APIResource, name string) bool {
	return r.Name == name && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

// versionsOf returns the versions of a group; none without the group.
func versionsOf(ctx context.Context, get Documents, group string) (versions []string, err error) {
	if group == "" {
		var core metav1.APIVersions
		err := read(ctx, get, schema.GroupVersion{}, "APIVersions", &core)
		return core.Versions, err
	}
	var found metav1.APIGroup
	err = read(ctx, get, schema.GroupVersion{Group: group}, "APIGroup", &found)
	if apierrors.IsNotFound(err) {
		return nil, confirmMissing(ctx, get, group)
	}
	for _, v := range found.Versions {
		versions = append(versions, v.Version)
	}
	return versions, err
}

// confirmMissing returns nil if the list of all groups lacks a group answered with 404: anything
// between server and client may answer 404.
func confirmMissing(ctx context.Context, get Documents, group string) error {
	var all metav1.APIGroupList
	if err := read(ctx, get, schema.GroupVersion{Group: allGroups}, "APIGroupList", &all); err != nil {
		return err
	}
	if slices.ContainsFunc(all.Groups, func(g metav1.APIGroup) bool { return g.Name == group }) {
		return fmt.Errorf("%w: group %q is listed and cannot be found", ErrNotDiscovery, group)
	}
	return nil
}

// read gets a document, and checks its kind.
func read(ctx context.Context, get Documents, gv schema.GroupVersion, kind string, into any) error {
	document, err := get(ctx, gv)
	if err != nil {
		return err
	}
	if document["kind"] != kind {
		return fmt.Errorf("%w: a %.100v instead of an %s", ErrNotDiscovery, document["kind"], kind)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(document, into); err != nil {
		return fmt.Errorf("%w: %w", ErrNotDiscovery, err)
	}
	return nil
}
