package ownwrites_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

func TestParseTarget(t *testing.T) {
	for path, want := range map[string]ownwrites.Target{
		"/api/v1/pods":                                             {Version: "v1", Resource: "pods"},
		"/api/v1/pods/":                                            {Version: "v1", Resource: "pods"},
		"/api/v1/namespaces":                                       {Version: "v1", Resource: "namespaces"},
		"/api/v1/namespaces/a":                                     {Version: "v1", Resource: "namespaces", Name: "a"},
		"/api/v1/namespaces/a/finalize":                            {Version: "v1", Resource: "namespaces", Name: "a", Subresource: "finalize"},
		"/api/v1/namespaces/a/pods":                                {Version: "v1", Resource: "pods", Namespace: "a"},
		"/api/v1/namespaces/a/pods/b":                              {Version: "v1", Resource: "pods", Namespace: "a", Name: "b"},
		"/api/v1/namespaces/a/services/b/proxy/api/v1":             {Version: "v1", Resource: "services", Namespace: "a", Name: "b", Subresource: "proxy/api/v1"},
		"/apis/apps/v1/namespaces/a/deployments/b/scale":           {Group: "apps", Version: "v1", Resource: "deployments", Namespace: "a", Name: "b", Subresource: "scale"},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/system:x": {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Name: "system:x"},
		"/k8s/clusters/c-1/api/v1/nodes/n/status":                  {Prefix: "/k8s/clusters/c-1", Version: "v1", Resource: "nodes", Name: "n", Subresource: "status"},
		"/api/c/apis/g/v1/things":                                  {Prefix: "/api/c", Group: "g", Version: "v1", Resource: "things"},
	} {
		got, ok := ownwrites.ParseTarget(path)
		require.True(t, ok, path)
		require.Equal(t, want, got, path)
	}
	for _, path := range []string{
		"", "/", "/api", "/api/v1", "/api/v1/", "/api/v2/pods", "/apis", "/apis/apps", "/apis/apps/v1", "/apis//v1/pods", "/apis/apps//pods",
		"/healthz", "/apiv1/pods", "/api/v1//pods", "/api/v1/namespaces//pods", "/api/v1/namespaces/a//b", "/api/v1/pods/..", "/api/v1/./pods",
	} {
		_, ok := ownwrites.ParseTarget(path)
		require.False(t, ok, path)
	}
}

// Resources with equal Kin have the same objects, across groups and versions.
func TestKin(t *testing.T) {
	kin := func(path string) ownwrites.Kin {
		target, ok := ownwrites.ParseTarget(path)
		require.True(t, ok)
		return target.Kin()
	}
	require.Equal(t, kin("/api/v1/events"), kin("/apis/events.k8s.io/v1/namespaces/a/events/b"))
	require.Equal(t, kin("/apis/apps/v1/deployments"), kin("/apis/apps/v1beta1/namespaces/a/deployments"))
	require.NotEqual(t, kin("/api/v1/pods"), kin("/apis/metrics.k8s.io/v1/pods"))
	// These write objects of a resource that is not in their paths.
	require.NotEqual(t, kin("/api/v1/pods"), kin("/api/v1/namespaces/a/bindings"))
	require.NotEqual(t, kin("/apis/kubevirt.io/v1/virtualmachines"), kin("/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachines/b/start"))
}

// parseSlowly is the twin of ParseTarget.
func parseSlowly(path string) (t ownwrites.Target, ok bool) {
	parts := strings.Split(strings.TrimRight(path, "/"), "/")
	for i := 1; i < len(parts); i++ {
		t = ownwrites.Target{Prefix: strings.Join(parts[:i], "/")}
		rest := parts[i+1:]
		switch {
		case parts[i] == "api" && len(rest) > 1 && rest[0] == "v1":
			t.Version, rest = rest[0], rest[1:]
		case parts[i] == "apis" && len(rest) > 0:
			if len(rest) < 3 || rest[0] == "" || rest[1] == "" {
				return t, false
			}
			t.Group, t.Version, rest = rest[0], rest[1], rest[2:]
		default:
			continue
		}
		if slices.Contains(rest, "") || slices.Contains(rest, ".") || slices.Contains(rest, "..") {
			return t, false
		}
		own := len(rest) == 3 && (rest[2] == "status" || rest[2] == "finalize")
		if rest[0] == "namespaces" && len(rest) > 2 && !own {
			t.Namespace, rest = rest[1], rest[2:]
		}
		t.Resource = rest[0]
		if len(rest) > 1 {
			t.Name, t.Subresource = rest[1], strings.Join(rest[2:], "/")
		}
		return t, true
	}
	return t, false
}
