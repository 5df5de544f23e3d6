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
	Target // with the name in the body, if a creation has one
	effect effect
	// Condition is the version that the object has to have for the write to succeed, "" for any.
	Condition string
}

// effect is what a request may do to objects.
type effect uint8

const (
	nothing effect = iota
	creates
	updates
	deletes
	writes // something, which the answer does not show
)

// Key returns the object's key. The name is empty if only the server knows it.
func (w Write) Key() indexer.Key { return indexer.Key{Namespace: w.Namespace, Name: w.Name} }

// ReadWrite reads a request. It returns false if the request writes no object: a reading one, a dry run,
// or a subresource that stores nothing.
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

// effectOf returns what a request does by its method and its path.
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

// readOptions reads the options of a deletion. The server takes them from the query only if there is no
// body.
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

// readObject reads the name of an object to be created, or the version that an update needs. The version
// "0" stands for any.
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
