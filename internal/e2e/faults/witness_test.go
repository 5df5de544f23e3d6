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

// answer is a server's answer to a write: an object, or a Status.
type answer struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Details *metav1.StatusDetails `json:"details"` // the details of a Status

	code    int       // 0 if there was no answer
	deletes bool      // the write was a DELETE
	came    time.Time // when OwnWrites received the answer
	passed  time.Time // when OwnWrites passed the answer on
}

// answerKey is the key of the answer in the context of a write.
type answerKey struct{}

// witnessed returns the context for a write whose answer is recorded in a.
func witnessed(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// clock is a transport inside of OwnWrites that records when answers arrive.
type clock struct{ next http.RoundTripper }

func (c clock) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if a, ok := r.Context().Value(answerKey{}).(*answer); ok {
		a.came = time.Now()
	}
	return resp, err
}

// witness is a transport that records the answers to writes as the client gets them.
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
		return nil // a text, such as that of the gateway
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
		return nil //nolint:nilerr // the answer is a list
	}
	a.ObjectMeta = metav1.ObjectMeta{
		Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion(), Finalizers: m.GetFinalizers(),
		DeletionTimestamp: m.GetDeletionTimestamp(), DeletionGracePeriodSeconds: m.GetDeletionGracePeriodSeconds(),
	}
	return nil
}

// held is what a cache has of an object.
type held struct {
	uid       types.UID
	version   string
	finalized bool // the object has finalizers
}

// promise is what the cache must show when a write has returned.
type promise struct {
	kind    promised
	uid     types.UID
	version string // the version for shown
}

// promised is the kind of a promise.
type promised uint8

const (
	nothing   promised = iota // the write has failed
	unsure                    // the answer does not say enough, so that the watch will show it
	shown                     // the object, in its version or a later one
	gone                      // the object is gone
	untouched                 // the state before a dry run
)

// promises returns what a cache of a kind must show when the write has returned (D35). before is what
// the cache had when the write began.
func (a *answer) promises(kind string, before held) promise {
	grace := a.DeletionGracePeriodSeconds
	marked, free, ended := a.DeletionTimestamp != nil, len(a.Finalizers) == 0, grace == nil || *grace == 0
	p := promise{uid: a.UID, version: a.ResourceVersion}
	switch {
	case a.code < http.StatusOK || a.code >= http.StatusMultipleChoices:
	case a.Kind != "Status" && a.ResourceVersion == "": // a deletion that another deletion has overtaken
		p.kind = unsure
	case a.Kind == "Status" && a.deletes && a.Details != nil && a.Details.UID != "" && a.Details.UID == before.uid:
		p.kind, p.uid = gone, a.Details.UID
	case a.Kind != kind: // a Scale, the list of a deleted collection, or a Status of an object that the cache never had
		p.kind = unsure
	case a.deletes && free && (!marked || grace != nil && ended):
		p.kind = gone
	case a.deletes || !marked || !free || !ended:
		p.kind = shown
	case before.uid == a.UID && before.version == a.ResourceVersion && before.finalized:
		p.kind = gone // the answer has the previous object, because an object without its last finalizer is never stored
	default:
		p.kind = unsure // without the previous object, or for a Namespace, the outcome is unknown
	}
	return p
}

// isDry reports whether an object was made by a dry run.
func isDry(m metav1.Object) bool { return strings.HasPrefix(m.GetAnnotations()["note"], "dry") }
