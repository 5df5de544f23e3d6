package ownwrites

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Result is what the answer to a write says, independently of any source.
type Result struct {
	Kind Kind
	object.Identity
	Labels  map[string]string
	Form    Form
	Encoded Encoded // empty with Doubt
	// Proven means that this single write has made Version: from the version in Condition, or from
	// nothing.
	Proven bool
}

// Form says which part of an object an answer contains.
type Form uint8

// The forms of an answer.
const (
	Other    Form = iota // another kind, such as a Scale, or another API version
	Full                 // the object, with the group and version of the path
	Metadata             // the object's metadata
)

// statusKind is the kind of an answer that is not an object.
var statusKind = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}

// Unanswered returns the result of a write without an answer, or with one that says that the server
// failed.
func (w Write) Unanswered() Result { return Result{Identity: object.Identity{Key: w.Key()}} }

// Answers reports whether the answer with this status code contains the object. Other bodies are not
// read.
func (w Write) Answers(code int) bool {
	return w.effect != writes && (code == http.StatusOK || code == http.StatusCreated || code == http.StatusAccepted)
}

// statusClientClosed is the status code that proxies send when the client has closed the connection.
const statusClientClosed = 499

// saysNothing reports whether the status code does not show what a write has done: the server may have
// done it before a proxy timed out, or the client may repeat a redirected write at another server.
func saysNothing(code int) bool {
	switch code {
	case http.StatusRequestTimeout, statusClientClosed, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return code >= http.StatusInternalServerError
}

// Result returns what an answer says. It returns false if the write has had no effect.
func (w Write) Result(code int, b Body) (r Result, ok bool) {
	switch {
	case saysNothing(code):
		return w.Unanswered(), true
	case code < http.StatusOK, code >= http.StatusMultipleChoices:
		return r, false
	case !w.Answers(code):
		return w.Unanswered(), true
	}
	e, readable := b.encoded()
	if !readable {
		return w.Unanswered(), true
	}
	t, m, readable := e.metadata()
	switch {
	case !readable:
		return w.Unanswered(), true
	case t == statusKind:
		return w.status(code, e), true
	case !w.names(m), m.UID == "", m.ResourceVersion == "":
		return w.Unanswered(), true
	}
	e.TypeMeta = t
	return w.object(code, e, m), true
}

// status returns the result of an answer that only reports success.
func (w Write) status(code int, e Encoded) Result {
	var s metav1.Status
	r := w.Unanswered()
	if w.effect != deletes || code == http.StatusAccepted || !e.unmarshal(&s) || s.Status != metav1.StatusSuccess || s.Details == nil ||
		s.Details.Name != "" && s.Details.Name != w.Name {
		return r
	}
	if r.UID = string(s.Details.UID); r.UID != "" {
		r.Kind = Undated
	}
	return r
}

// names reports whether an object is the one in the request.
func (w Write) names(m *metav1.ObjectMeta) bool {
	return m.Name != "" && (w.Name == "" || w.Name == m.Name) && w.Namespace == m.Namespace
}

func (w Write) object(code int, e Encoded, m *metav1.ObjectMeta) Result {
	r := Result{
		Identity: object.IdentityOf(object.Key(m), m), Labels: m.Labels, Form: w.form(e.TypeMeta), Encoded: e,
	}
	if r.Kind = w.kind(code, r.Form, m); r.Kind == Doubt {
		return w.Unanswered()
	}
	switch w.effect {
	case creates:
		r.Proven = code == http.StatusCreated
	case updates:
		r.Proven = code == http.StatusOK && w.Condition != "" && w.Condition != r.Version
	}
	return r
}

// form compares the kind of an answer with the path.
func (w Write) form(t metav1.TypeMeta) Form {
	version := w.Version
	if w.Group != "" {
		version = w.Group + "/" + version
	}
	switch {
	case isMetadata(t):
		return Metadata
	case t.APIVersion == version && t.Kind != "" && w.Subresource != "scale":
		return Full
	}
	return Other
}

// kind returns what has happened to an object. A deletion is answered with the object. The object may
// stay until its finalizers are removed or its grace period ends. No update deletes an object within its
// grace period. A deletion that is only accepted happens later.
func (w Write) kind(code int, f Form, m *metav1.ObjectMeta) Kind {
	marked, free := m.DeletionTimestamp != nil, len(m.Finalizers) == 0
	grace := m.DeletionGracePeriodSeconds
	switch {
	case w.effect == deletes && f == Other:
		return Doubt
	case w.effect == deletes && free && (!marked || grace != nil && *grace == 0):
		if code == http.StatusAccepted {
			return Doubt
		}
		return Deleted
	case w.effect == updates && free && marked && (grace == nil || *grace == 0):
		return Emptied
	}
	return Object
}
