package ownwrites

import (
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Write is a request that writes an object.
type Write struct {
	Target // for a creation, with the name in the body if there is one
	effect effect
	// Condition is the version that the object must have for the write to succeed, or "" for any version.
	Condition string
}

// effect is what a request may do to objects.
type effect uint8

const (
	nothing effect = iota
	creates
	updates
	deletes
	writes // writes something that the answer does not show
)

// Key returns the object's key. The name is empty if the server generates it.
func (w Write) Key() indexer.Key { return indexer.Key{Namespace: w.Namespace, Name: w.Name} }

// ReadWrite reads a request. It returns false if the request does not write an object: it only reads, is
// a dry run, or is for a subresource that stores nothing.
func ReadWrite(method string, t Target, query url.Values, b Body) (w Write, ok bool) {
	w = Write{Target: t, effect: effectOf(method, t)}
	switch {
	case w.effect == nothing:
	case method == http.MethodDelete:
		w.readOptions(query, b)
	case len(query["dryRun"]) > 0:
		w.effect = nothing
	default:
		w.readObject(b)
	}
	return w, w.effect != nothing
}

// effectOf returns the effect of a request according to its method and path.
func effectOf(method string, t Target) effect {
	subresource, _, _ := strings.Cut(t.Subresource, "/")
	switch subresource {
	case "exec", "attach", "portforward", "log", "proxy", "token":
		return nothing
	case "", "status", "resize", "ephemeralcontainers", "approval", "finalize", "scale":
	default:
		subresource = "unknown"
	}
	switch {
	case method == http.MethodPost && t.Name == "":
		return creates
	case method == http.MethodDelete && t.Name != "" && subresource == "":
		return deletes
	case (method == http.MethodPut || method == http.MethodPatch) && t.Name != "" && subresource != "unknown":
		return updates
	case method == http.MethodPost, method == http.MethodDelete, method == http.MethodPut, method == http.MethodPatch:
		return writes
	}
	return nothing
}

// readOptions reads the options of a deletion. The server reads them from the query only if the request
// has no body.
func (w *Write) readOptions(query url.Values, b Body) {
	o := metav1.DeleteOptions{DryRun: query["dryRun"]}
	if len(b.Data) > 0 || !b.Whole {
		o.DryRun = nil
		if e, ok := b.encoded(); !ok || !e.unmarshal(&o) {
			w.effect = writes
			return
		}
	}
	switch {
	case len(o.DryRun) > 0:
		w.effect = nothing
	case o.Preconditions != nil && o.Preconditions.ResourceVersion != nil:
		w.Condition = *o.Preconditions.ResourceVersion
	}
}

// readObject reads the name of the object in a creation, or the precondition of an update. The version
// "0" stands for any version.
func (w *Write) readObject(b Body) {
	e, ok := b.encoded()
	if !ok || w.effect == writes {
		return
	}
	_, m, ok := e.metadata()
	switch {
	case !ok:
	case w.effect == creates:
		w.Name = m.Name
	case m.ResourceVersion != "0":
		w.Condition = m.ResourceVersion
	}
}
