package ownwrites

import "strings"

// Target is the path of a request, parsed like an API server does.
type Target struct {
	Prefix                       string // the server's path prefix before /api or /apis
	Group, Version, Resource     string
	Namespace, Name, Subresource string
}

// ParseTarget parses a path. It returns false if the path does not name a resource, or has an empty or
// relative part. Everything after the object's name is the subresource, because proxied requests append
// a path of their own.
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
		case strings.HasPrefix(rest, "/v1/"): // the core group has only this version
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

// read parses the part of a path after the group and version.
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

// isOdd reports whether a path is empty, or has a part that servers do not accept as a name.
func isOdd(path string) bool {
	for part, rest, more := "", path, true; more; {
		part, rest, more = strings.Cut(rest, "/")
		if part == "" || part == "." || part == ".." {
			return true
		}
	}
	return false
}

// Kin identifies resources with the same objects, in all API versions.
type Kin struct{ Group, Resource string }

// Kin returns what all versions of the resource have in common. Two groups serve Events.
func (t Target) Kin() Kin {
	if t.Resource == "events" && t.Group == "events.k8s.io" {
		t.Group = ""
	}
	return Kin{t.Group, t.Resource}
}
