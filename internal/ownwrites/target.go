package ownwrites

import "strings"

// Target is the path of a request, read as an API server reads it.
type Target struct {
	Prefix                       string // what the server has in front of /api or /apis
	Group, Version, Resource     string
	Namespace, Name, Subresource string
}

// ParseTarget reads a path. It returns false for one that names no resource, or has an empty or a
// relative part. Everything behind an object's name is the subresource, since a proxied request has a
// path of its own there.
func ParseTarget(path string) (t Target, ok bool) {
	path = strings.TrimRight(path, "/")
	for from := 0; ; {
		at := strings.Index(path[from:], "/api")
		if at < 0 {
			return Target{}, false
		}
		at += from
		t, rest := Target{Prefix: path[:at]}, path[at+len("/api"):]
		switch {
		case strings.HasPrefix(rest, "/v1/"): // the only version of the core group
			t.Version, rest = "v1", rest[len("/v1/"):]
			ok = t.read(rest)
			return t, ok
		case strings.HasPrefix(rest, "s/"):
			t.Group, rest, _ = strings.Cut(rest[len("s/"):], "/")
			t.Version, rest, _ = strings.Cut(rest, "/")
			ok = t.Group != "" && t.Version != "" && t.read(rest)
			return t, ok
		}
		from = at + 1
	}
}

// read reads the part of a path behind the group and the version.
func (t *Target) read(rest string) bool {
	if isOdd(rest) {
		return false
	}
	first, behind, _ := strings.Cut(rest, "/")
	namespace, behind, _ := strings.Cut(behind, "/")
	if first == "namespaces" && behind != "" && behind != "status" && behind != "finalize" {
		t.Namespace, rest = namespace, behind
	}
	t.Resource, rest, _ = strings.Cut(rest, "/")
	t.Name, t.Subresource, _ = strings.Cut(rest, "/")
	return true
}

// isOdd reports whether a path has no part, or one that servers do not take for a name.
func isOdd(path string) bool {
	for part, rest, more := "", path, true; more; {
		part, rest, more = strings.Cut(rest, "/")
		if part == "" || part == "." || part == ".." {
			return true
		}
	}
	return false
}

// Kin identifies the resources whose objects are the same, whatever their versions.
type Kin struct{ Group, Resource string }

// Kin returns what the resource has in common with its other versions. Events are served by two groups.
func (t Target) Kin() Kin {
	if t.Resource == "events" && t.Group == "events.k8s.io" {
		t.Group = ""
	}
	return Kin{t.Group, t.Resource}
}
