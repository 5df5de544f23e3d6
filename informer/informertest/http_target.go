package informertest

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is the parsed path of a request: a resource, and the namespace, object name and subresource that the
// path may have.
type target struct {
	resource                     schema.GroupVersionResource
	namespace, name, subresource string
}

// parseTarget reads /api/v1/... and /apis/<group>/<version>/....
func parseTarget(path string) (t target, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if slices.Contains(parts, "") {
		return target{}, false
	}
	switch {
	case parts[0] == "api" && len(parts) > 2:
		t.resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		t.resource.Group, t.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{}, false
	}
	// In /namespaces/x/status, status is a subresource, not a resource of the namespace x.
	own := len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")
	if parts[0] == "namespaces" && len(parts) > 2 && !own {
		t.namespace, parts = parts[1], parts[2:]
	}
	switch len(parts) {
	case 1:
		t.resource.Resource = parts[0]
	case 2:
		t.resource.Resource, t.name = parts[0], parts[1]
	case 3:
		t.resource.Resource, t.name, t.subresource = parts[0], parts[1], parts[2]
	default:
		return target{}, false
	}
	return t, true
}
