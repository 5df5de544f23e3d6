package informertest

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// healthy reports whether a path is a health check.
func healthy(path string) bool {
	return slices.Contains([]string{"/readyz", "/livez", "/healthz"}, path)
}

// discover answers a discovery request. It returns nil for any other path.
func (s *Server) discover(path string) any {
	switch path {
	case "/version":
		return serverVersion()
	case "/api":
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		return s.discoverGroups()
	}
	switch parts := strings.Split(strings.TrimPrefix(path, "/"), "/"); {
	case len(parts) == 2 && parts[0] == "api":
		return s.discoverResources(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 2 && parts[0] == "apis":
		for _, group := range s.discoverGroups().Groups {
			if group.Name == parts[1] {
				group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return &group
			}
		}
	case len(parts) == 3 && parts[0] == "apis":
		return s.discoverResources(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	return nil
}

// serveDiscovery answers in JSON, the only form that all clients read.
func serveDiscovery(found any, w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return errMethod()
	}
	if _, err := negotiate(r.Header.Values("Accept"), func(f form) bool { return f == plainJSON }); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}

// serverVersion returns the Kubernetes version that the model follows.
func serverVersion() *apiversion.Info {
	return &apiversion.Info{
		Major: "1", Minor: "37", GitVersion: "v1.37.2+informertest", GitTreeState: "clean",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// discoverGroups lists all groups except the core group, which has no name. A group's first version is the
// preferred one. If two groups have a resource of the same name, clients choose the first group. So groups
// with stable versions come first, and "extensions", which servers no longer have, comes late.
func (s *Server) discoverGroups() *metav1.APIGroupList {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for gv := range s.served() {
		if gv.Group == "" {
			continue
		}
		found := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == gv.Group })
		if i < 0 {
			i = len(list.Groups)
			list.Groups = append(list.Groups, metav1.APIGroup{Name: gv.Group})
		}
		list.Groups[i].Versions = append(list.Groups[i].Versions, found)
	}
	for i := range list.Groups {
		g := &list.Groups[i]
		slices.SortFunc(g.Versions, func(a, b metav1.GroupVersionForDiscovery) int { return -compareVersions(a.Version, b.Version) })
		g.PreferredVersion = g.Versions[0]
	}
	slices.SortFunc(list.Groups, func(a, b metav1.APIGroup) int {
		return cmp.Or(-compareVersions(a.PreferredVersion.Version, b.PreferredVersion.Version), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// compareVersions returns a positive number if clients prefer version a to version b.
func compareVersions(a, b string) int { return apiversion.CompareKubeAwareVersionStrings(a, b) }

// discoverResources lists the resources of a group and version.
func (s *Server) discoverResources(gv schema.GroupVersion) any {
	kinds := s.served()[gv]
	if kinds == nil {
		return nil
	}
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, k := range kinds {
		list.APIResources = append(list.APIResources, resourcesOf(k)...)
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// resourcesOf returns the resource of a kind and its subresources.
func resourcesOf(k kind) []metav1.APIResource {
	main := metav1.APIResource{
		Name:         k.GVR.Resource,
		SingularName: strings.ToLower(k.GVK.Kind),
		Namespaced:   k.Namespaced,
		Kind:         k.GVK.Kind,
		Verbs:        metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"},
	}
	if !k.oneByOne {
		main.Verbs = slices.Insert(main.Verbs, 2, "deletecollection")
	}
	all := []metav1.APIResource{main}
	for _, name := range []string{"finalize", "scale", "status"} {
		v, ok := k.viewOf(name)
		if !ok {
			continue
		}
		sub := metav1.APIResource{Name: main.Name + "/" + name, Namespaced: k.Namespaced, Kind: k.seen(v).GVK.Kind, Verbs: metav1.Verbs{"get", "patch", "update"}}
		if v == viewFinalize {
			sub.Verbs = metav1.Verbs{"update"}
		}
		if seen := k.seen(v).GVK; seen != k.GVK {
			sub.Group, sub.Version = seen.Group, seen.Version
		}
		all = append(all, sub)
	}
	return all
}
