package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// answer is what a server has said to a write: an object, or a Status.
type answer struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Details *metav1.StatusDetails `json:"details"` // of a Status

	code    int       // 0 if no answer came
	deletes bool      // the write was a DELETE
	came    time.Time // when the line got it
	passed  time.Time // when the line passed it on
}

// answerKey is the key of the answer in the context of a write.
type answerKey struct{}

// witnessed returns the context of a write whose answer is noted in a.
func witnessed(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// clock is a transport inside of the line of own writes, which notes when answers come.
type clock struct{ next http.RoundTripper }

func (c clock) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if a, ok := r.Context().Value(answerKey{}).(*answer); ok {
		a.came = time.Now()
	}
	return resp, err
}

// witness is a transport that notes the answers to writes, as the client gets them.
type witness struct{ next http.RoundTripper }

func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	a, _ := r.Context().Value(answerKey{}).(*answer)
	resp, err := w.next.RoundTrip(r)
	if err != nil || a == nil {
		return resp, err
	}
	a.passed = time.Now()
	data, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	if err := a.read(resp.Header.Get("Content-Type"), data); err != nil {
		return nil, err
	}
	a.code, a.deletes = resp.StatusCode, r.Method == http.MethodDelete
	return resp, nil
}

// read reads the metadata of an answer.
func (a *answer) read(contentType string, data []byte) error {
	switch kind, _, _ := mime.ParseMediaType(contentType); kind {
	case runtime.ContentTypeJSON:
		return json.Unmarshal(data, a)
	case runtime.ContentTypeProtobuf:
	default:
		return nil // a text, such as the gateway's
	}
	obj, gvk, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return err
	}
	a.APIVersion, a.Kind = gvk.ToAPIVersionAndKind()
	if status, ok := obj.(*metav1.Status); ok {
		a.Details = status.Details
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil //nolint:nilerr // it is a list
	}
	a.ObjectMeta = metav1.ObjectMeta{
		Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(), Finalizers: m.GetFinalizers(),
		DeletionTimestamp: m.GetDeletionTimestamp(), DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
	}
	return nil
}

// held is what a cache holds of an object.
type held struct {
	uid       types.UID
	version   string
	finalized bool // it has finalizers
}

// promise is what the cache shows once a write has returned.
type promise struct {
	kind    promised
	uid     types.UID
	version string // of shown
}

// promised says what is promised.
type promised uint8

const (
	nothing   promised = iota // the write has failed
	unsure                    // the watch will bring it: the answer says too little
	shown                     // the object, at its version or a later one
	gone                      // no longer the object
	untouched                 // whatever was there: a dry run
)

// promises returns what a cache of a kind shows once the write has returned (D35). before is what the cache held
// when the write began.
func (a *answer) promises(kind string, before held) promise {
	grace := a.DeletionGracePeriodSeconds
	marked, free, ended := a.DeletionTimestamp != nil, len(a.Finalizers) == 0, grace == nil || *grace == 0
	p := promise{uid: a.UID, version: a.ResourceVersion}
	switch {
	case a.code < http.StatusOK || a.code >= http.StatusMultipleChoices:
	case a.Kind != "Status" && a.ResourceVersion == "": // a deletion that another one has overtaken
		p.kind = unsure
	case a.Kind == "Status" && a.deletes && a.Details != nil && a.Details.UID != "" && a.Details.UID == before.uid:
		p.kind, p.uid = gone, a.Details.UID
	case a.Kind != kind: // a Scale, the list of a deleted collection, or a Status of what the cache has never held
		p.kind = unsure
	case a.deletes && free && (!marked || grace != nil && ended):
		p.kind = gone
	case a.deletes || !marked || !free || !ended:
		p.kind = shown
	case before.uid == a.UID && before.version == a.ResourceVersion && before.finalized:
		p.kind = gone // it is the object from before: one without the last finalizer was never stored
	default:
		p.kind = unsure // without the object from before, or for a Namespace, nobody can tell
	}
	return p
}

// isDry reports whether an object was made by a dry run.
func isDry(m metav1.Object) bool { return strings.HasPrefix(m.GetAnnotations()["note"], "dry") }
