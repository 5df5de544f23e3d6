package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind that both libraries read.
type kind struct {
	Name       string // as kubectl names it
	Resource   schema.GroupVersionResource
	Namespaced bool
	Reading    reading
}

// reading names the type of informers that read a kind.
type reading string

const (
	typed    reading = "typed"    // Go types of client-go, in protobuf
	metadata reading = "metadata" // without spec, status and data
	dynamic  reading = "dynamic"  // maps
)

// readingOf chooses the type of informers that most programs would use. builtIn reports whether client-go has
// a Go type.
func readingOf(resource schema.GroupVersionResource, builtIn bool) reading {
	switch {
	case resource.GroupResource() == schema.GroupResource{Resource: "secrets"}:
		return metadata
	case builtIn:
		return typed
	}
	return dynamic
}

// splitKinds splits a list of names. Each name may be listed once.
func splitKinds(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case name == "":
			return nil, errors.New("has an empty name")
		case strings.ContainsAny(name, "/ "):
			return nil, fmt.Errorf("%q is not a kind; use names such as pods or crontabs.stable.example.com", name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%q is listed twice", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// resourceOf parses a name: pods, deployments.apps, or deployments.v1.apps. The server chooses the missing
// parts.
func resourceOf(name string) []schema.GroupVersionResource {
	full, group := schema.ParseResourceArg(name)
	candidates := []schema.GroupVersionResource{group.WithVersion("")}
	if full != nil {
		candidates = []schema.GroupVersionResource{*full, candidates[0]}
	}
	return candidates
}
