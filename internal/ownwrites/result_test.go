package ownwrites_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

const (
	jsonType     = runtime.ContentTypeJSON
	protobufType = runtime.ContentTypeProtobuf
	mergeType    = "application/merge-patch+json"
	pods         = "/api/v1/namespaces/n/pods"
	namespaces   = "/api/v1/namespaces"
	deployments  = "/apis/apps/v1/namespaces/n/deployments"
	widgets      = "/apis/example.com/v1/namespaces/n/widgets"
)

// encoded returns an object in JSON, with a name, a UID and a version, and with more metadata.
func encoded(version, kind, namespace, more string) string {
	return `{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"a","namespace":"` + namespace + `","uid":"u","resourceVersion":"9"` + more + `}}`
}

const (
	marked   = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`
	graceful = marked + `,"deletionGracePeriodSeconds":30`
	atOnce   = marked + `,"deletionGracePeriodSeconds":0`
	held     = `,"finalizers":["example.com/f"]`
	success  = `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"a","uid":"u"}}`
)

// A row is the request and the answer of one write.
type row struct {
	name                    string
	method, path, mediaType string
	query, body             string
	code                    int
	answer                  string
	// want is the kind of the result. none means that the write had no effect.
	want   ownwrites.Kind
	none   bool
	form   ownwrites.Form
	proven bool
}

func (r row) read(t testing.TB) (ownwrites.Write, bool) {
	target, ok := ownwrites.ParseTarget(r.path)
	require.True(t, ok, r.path)
	query, err := url.ParseQuery(r.query)
	require.NoError(t, err)
	return ownwrites.ReadWrite(r.method, target, query, ownwrites.Body{Type: r.mediaType, Data: []byte(r.body), Whole: true})
}

// The table has a row for each known kind of answer.
func TestAnswers(t *testing.T) {
	pod, deployment := encoded("v1", "Pod", "n", ""), encoded("apps/v1", "Deployment", "n", "")
	at := func(version string) string { return `{"metadata":{"resourceVersion":"` + version + `"}}` }
	const (
		full     = ownwrites.Full
		metadata = ownwrites.Metadata
		doubt    = ownwrites.Doubt
		isObject = ownwrites.Object
		emptied  = ownwrites.Emptied
		deleted  = ownwrites.Deleted
		undated  = ownwrites.Undated
	)
	for _, r := range []row{
		{name: "create", method: "POST", path: pods, body: `{"metadata":{"name":"a"}}`, code: 201, answer: pod, want: isObject, form: full, proven: true},
		{name: "create, the server makes the name", method: "POST", path: pods, body: `{"metadata":{"generateName":"a-"}}`, code: 201, answer: pod, want: isObject, form: full, proven: true},
		{name: "create, answered with another name", method: "POST", path: pods, body: `{"metadata":{"name":"b"}}`, code: 201, answer: pod},
		{name: "create with a deletionTimestamp", method: "POST", path: pods, code: 201, answer: encoded("v1", "Pod", "n", marked), want: isObject, form: full, proven: true},
		{name: "dry-run create", method: "POST", path: pods, query: "dryRun=All", code: 201, answer: pod, none: true},

		{name: "update with a condition", method: "PUT", path: pods + "/a", body: at("8"), code: 200, answer: pod, want: isObject, form: full, proven: true},
		{name: "update that changes nothing", method: "PUT", path: pods + "/a", body: at("9"), code: 200, answer: pod, want: isObject, form: full},
		{name: "update without a condition", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: pod, want: isObject, form: full},
		{name: "update of any version", method: "PUT", path: pods + "/a", body: at("0"), code: 200, answer: pod, want: isObject, form: full},
		{name: "update that creates", method: "PUT", path: pods + "/a", body: at("8"), code: 201, answer: pod, want: isObject, form: full},
		{name: "update whose body is unknown", method: "PUT", path: pods + "/a", mediaType: "application/cbor", body: at("8"), code: 200, answer: pod, want: isObject, form: full},
		{name: "dry-run update", method: "PUT", path: pods + "/a", query: "dryRun=All", body: at("8"), code: 200, answer: pod, none: true},
		{name: "update, answered with another object", method: "PUT", path: pods + "/b", body: at("8"), code: 200, answer: pod},
		{name: "update, answered with another namespace", method: "PUT", path: "/api/v1/namespaces/m/pods/a", body: at("8"), code: 200, answer: pod},

		{name: "merge patch with a condition", method: "PATCH", path: pods + "/a", mediaType: mergeType, body: at("8"), code: 200, answer: pod, want: isObject, form: full, proven: true},
		{name: "strategic merge patch with a condition", method: "PATCH", path: pods + "/a", mediaType: "application/strategic-merge-patch+json", body: at("8"), code: 200, answer: pod, want: isObject, form: full, proven: true},
		{name: "apply patch with a condition", method: "PATCH", path: pods + "/a", mediaType: "application/apply-patch+yaml", body: at("8"), code: 200, answer: pod, want: isObject, form: full, proven: true},
		{name: "apply patch that creates", method: "PATCH", path: pods + "/a", mediaType: "application/apply-patch+yaml", body: at("8"), code: 201, answer: pod, want: isObject, form: full},
		{name: "apply patch in YAML", method: "PATCH", path: pods + "/a", mediaType: "application/apply-patch+yaml", body: "metadata:\n  resourceVersion: '8'\n", code: 200, answer: pod, want: isObject, form: full},
		{name: "JSON patch", method: "PATCH", path: pods + "/a", mediaType: "application/json-patch+json", body: `[{"op":"test","path":"/metadata/resourceVersion","value":"8"}]`, code: 200, answer: pod, want: isObject, form: full},
		{name: "patch of a terminating Namespace", method: "PATCH", path: namespaces + "/a", mediaType: mergeType, body: "{}", code: 200, answer: encoded("v1", "Namespace", "", marked), want: emptied, form: full},
		{name: "conditional update of a terminating Namespace", method: "PUT", path: namespaces + "/a/finalize", body: at("8"), code: 200, answer: encoded("v1", "Namespace", "", marked), want: emptied, form: full, proven: true},
		{name: "the last finalizer removed", method: "PUT", path: widgets + "/a", body: at("9"), code: 200, answer: encoded("example.com/v1", "Widget", "n", atOnce), want: emptied, form: full},
		{name: "patch of a Pod in its grace period", method: "PATCH", path: pods + "/a", mediaType: mergeType, body: "{}", code: 200, answer: encoded("v1", "Pod", "n", graceful), want: isObject, form: full},
		{name: "one of two finalizers removed", method: "PUT", path: widgets + "/a", body: at("8"), code: 200, answer: encoded("example.com/v1", "Widget", "n", atOnce+held), want: isObject, form: full, proven: true},

		{name: "DELETE, the deleted object", method: "DELETE", path: pods + "/a", code: 200, answer: pod, want: deleted, form: full},
		{name: "DELETE, the object without grace", method: "DELETE", path: pods + "/a", code: 200, answer: encoded("v1", "Pod", "n", atOnce), want: deleted, form: full},
		{name: "DELETE, the object in its grace period", method: "DELETE", path: pods + "/a", code: 200, answer: encoded("v1", "Pod", "n", graceful), want: isObject, form: full},
		{name: "DELETE, the object with finalizers", method: "DELETE", path: widgets + "/a", code: 200, answer: encoded("example.com/v1", "Widget", "n", atOnce+held), want: isObject, form: full},
		{name: "DELETE, accepted", method: "DELETE", path: deployments + "/a", code: 202, answer: encoded("apps/v1", "Deployment", "n", atOnce+held), want: isObject, form: full},
		{name: "DELETE, accepted, the unmarked object", method: "DELETE", path: pods + "/a", code: 202, answer: pod},
		{name: "DELETE, accepted, the object without grace", method: "DELETE", path: pods + "/a", code: 202, answer: encoded("v1", "Pod", "n", atOnce)},
		{name: "DELETE, accepted, a Status", method: "DELETE", path: widgets + "/a", code: 202, answer: success},
		{name: "DELETE of a Namespace", method: "DELETE", path: namespaces + "/a", code: 200, answer: encoded("v1", "Namespace", "", marked), want: isObject, form: full},
		{name: "DELETE with a condition proves nothing", method: "DELETE", path: pods + "/a", body: `{"preconditions":{"resourceVersion":"8"}}`, code: 200, answer: pod, want: deleted, form: full},
		{name: "DELETE, a Status", method: "DELETE", path: widgets + "/a", code: 200, answer: success, want: undated},
		{name: "DELETE, a Status without a UID", method: "DELETE", path: widgets + "/a", code: 200, answer: `{"apiVersion":"v1","kind":"Status","status":"Success"}`},
		{name: "DELETE, a Status of another object", method: "DELETE", path: widgets + "/b", code: 200, answer: success},
		{name: "DELETE, a Status of a failure", method: "DELETE", path: widgets + "/a", code: 200, answer: `{"apiVersion":"v1","kind":"Status","status":"Failure","details":{"uid":"u"}}`},
		{name: "DELETE, only metadata", method: "DELETE", path: pods + "/a", code: 200, answer: encoded("meta.k8s.io/v1", "PartialObjectMetadata", "n", ""), want: deleted, form: metadata},
		{name: "DELETE, another kind", method: "DELETE", path: pods + "/a", code: 200, answer: encoded("example.com/v1", "Pod", "n", "")},
		{name: "dry-run DELETE in the body, a Status", method: "DELETE", path: widgets + "/a", body: `{"dryRun":["All"]}`, code: 200, answer: success, none: true},
		{name: "dry-run DELETE in the body, the object", method: "DELETE", path: pods + "/a", body: `{"dryRun":["All"]}`, code: 200, answer: pod, none: true},
		{name: "dry-run DELETE in the query", method: "DELETE", path: pods + "/a", query: "dryRun=All", code: 200, answer: pod, none: true},
		{name: "DELETE, the body overrides the query", method: "DELETE", path: pods + "/a", query: "dryRun=All", body: "{}", code: 200, answer: pod, want: deleted, form: full},
		{name: "DELETE with malformed options", method: "DELETE", path: pods + "/a", body: "{", code: 200, answer: pod},
		{name: "DELETE with options of an unknown type", method: "DELETE", path: pods + "/a", mediaType: "application/cbor", body: "x", code: 200, answer: pod},
		{name: "deletecollection", method: "DELETE", path: pods, code: 200, answer: `{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[]}`},
		{name: "dry-run deletecollection", method: "DELETE", path: pods, body: `{"dryRun":["All"]}`, code: 200, answer: "{}", none: true},

		{name: "status", method: "PUT", path: pods + "/a/status", body: at("8"), code: 200, answer: pod, want: isObject, form: full, proven: true},
		{name: "resize", method: "PATCH", path: pods + "/a/resize", mediaType: mergeType, body: "{}", code: 200, answer: pod, want: isObject, form: full},
		{name: "ephemeralcontainers", method: "PUT", path: pods + "/a/ephemeralcontainers", body: "{}", code: 200, answer: pod, want: isObject, form: full},
		{
			name: "approval", method: "PUT", path: "/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval", body: "{}", code: 200,
			answer: encoded("certificates.k8s.io/v1", "CertificateSigningRequest", "", ""), want: isObject, form: full,
		},
		{name: "scale", method: "PUT", path: deployments + "/a/scale", body: at("8"), code: 200, answer: encoded("autoscaling/v1", "Scale", "n", ""), want: isObject, proven: true},
		{name: "scale, answered with the path's kind", method: "PUT", path: deployments + "/a/scale", body: "{}", code: 200, answer: deployment, want: isObject},
		{name: "eviction", method: "POST", path: pods + "/a/eviction", body: "{}", code: 201, answer: `{"apiVersion":"v1","kind":"Status","status":"Success"}`},
		{name: "eviction refused", method: "POST", path: pods + "/a/eviction", body: "{}", code: 429, none: true},
		{name: "binding", method: "POST", path: pods + "/a/binding", body: "{}", code: 201, answer: `{"apiVersion":"v1","kind":"Status","status":"Success"}`},
		{name: "token", method: "POST", path: "/api/v1/namespaces/n/serviceaccounts/a/token", code: 201, answer: pod, none: true},
		{name: "exec", method: "POST", path: pods + "/a/exec", code: 200, answer: pod, none: true},
		{name: "proxy", method: "DELETE", path: pods + "/a/proxy/api/v1/namespaces/n/pods/a", code: 200, answer: success, none: true},
		{name: "an unknown subresource", method: "PUT", path: widgets + "/a/start", code: 200, answer: encoded("example.com/v1", "Widget", "n", "")},
		{name: "POST of a subresource", method: "POST", path: widgets + "/a/start", body: "{}", code: 201, answer: encoded("example.com/v1", "Widget", "n", "")},
		{name: "DELETE of a subresource", method: "DELETE", path: widgets + "/a/status", code: 200, answer: success},
		{name: "GET", method: "GET", path: pods + "/a", code: 200, answer: pod, none: true},

		{name: "only metadata", method: "PATCH", path: pods + "/a", mediaType: mergeType, body: "{}", code: 200, answer: encoded("meta.k8s.io/v1", "PartialObjectMetadata", "n", ""), want: isObject, form: metadata},
		{name: "another version of the API", method: "PUT", path: deployments + "/a", body: "{}", code: 200, answer: encoded("apps/v1beta1", "Deployment", "n", ""), want: isObject},
		{name: "another group", method: "PUT", path: deployments + "/a", body: "{}", code: 200, answer: encoded("v1", "Deployment", "n", ""), want: isObject},
		{name: "a Table", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: `{"apiVersion":"meta.k8s.io/v1","kind":"Table","metadata":{"resourceVersion":"9"}}`},
		{name: "no version", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u"}}`},
		{name: "no UID", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"9"}}`},
		{name: "no object", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: "<html>"},
		{name: "a malformed object", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: pod[:len(pod)-2]},
		{name: "malformed after its metadata", method: "PUT", path: pods + "/a", body: "{}", code: 200, answer: pod[:len(pod)-1], want: isObject, form: full},
		{name: "an empty answer", method: "PUT", path: pods + "/a", body: "{}", code: 200},
		{name: "no content", method: "PUT", path: pods + "/a", body: "{}", code: 204},
		{name: "redirected with the same method", method: "PUT", path: pods + "/a", body: "{}", code: 307},
		{name: "redirected permanently with the same method", method: "DELETE", path: pods + "/a", code: 308},
		{name: "redirected, as a GET", method: "PUT", path: pods + "/a", body: "{}", code: 302, none: true},
		{name: "a proxy timed out", method: "PUT", path: pods + "/a", body: at("8"), code: 408},
		{name: "the client closed the connection", method: "POST", path: pods, body: "{}", code: 499},
		{name: "too many requests", method: "PUT", path: pods + "/a", body: at("8"), code: 429, none: true},
		{name: "another protocol", method: "PUT", path: pods + "/a", body: "{}", code: 101, none: true},
		{name: "a conflict", method: "PUT", path: pods + "/a", body: at("8"), code: 409, none: true},
		{name: "the server fails", method: "PUT", path: pods + "/a", body: at("8"), code: 504},
	} {
		t.Run(r.name, func(t *testing.T) {
			w, ok := r.read(t)
			var result ownwrites.Result
			if ok {
				result, ok = w.Result(r.code, ownwrites.Body{Type: jsonType, Data: []byte(r.answer), Whole: true})
			}
			require.Equal(t, r.none, !ok)
			if r.none {
				return
			}
			require.Equal(t, r.want, result.Kind)
			require.Equal(t, r.proven, result.Proven)
			require.Equal(t, r.form, result.Form)
			require.Equal(t, w.Namespace, result.Key.Namespace)
			if r.want != doubt {
				require.Equal(t, "a", result.Key.Name)
				require.Equal(t, "u", result.UID)
			}
			if r.want != doubt && r.want != undated {
				require.Equal(t, "9", result.Version)
				require.Equal(t, r.answer, string(result.Encoded.Data))
			}
		})
	}
}

// A body that is incomplete, compressed, or of an unknown type means Doubt.
func TestUnreadableAnswers(t *testing.T) {
	w, ok := row{method: http.MethodPut, path: pods + "/a", body: "{}"}.read(t)
	require.True(t, ok)
	good := ownwrites.Body{Type: jsonType + "; charset=utf-8", Data: []byte(encoded("v1", "Pod", "n", "")), Whole: true}
	for _, change := range []func(*ownwrites.Body){
		func(b *ownwrites.Body) { b.Whole = false },
		func(b *ownwrites.Body) { b.Encoding = "gzip" },
		func(b *ownwrites.Body) { b.Type = "application/cbor" },
		func(b *ownwrites.Body) { b.Type = "application/json;;" },
		func(b *ownwrites.Body) { b.Type = protobufType },
	} {
		r, ok := w.Result(http.StatusOK, good)
		require.True(t, ok)
		require.Equal(t, ownwrites.Object, r.Kind)
		b := good
		change(&b)
		r, ok = w.Result(http.StatusOK, b)
		require.True(t, ok)
		require.Equal(t, ownwrites.Result{Identity: object.Identity{Key: w.Key()}}, r)
	}
}

// inProtobuf encodes an object as client-go's clients and servers do.
func inProtobuf(t testing.TB, apiVersion, kind string, o interface{ Marshal() ([]byte, error) }) []byte {
	raw, err := o.Marshal()
	require.NoError(t, err)
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	require.NoError(t, err)
	return append([]byte("k8s\x00"), envelope...)
}

// Objects in protobuf mean the same as in JSON.
func TestProtobuf(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", UID: "u", ResourceVersion: "8", Labels: map[string]string{"l": "v"}},
		Spec:       corev1.PodSpec{NodeName: "node"},
	}
	target, _ := ownwrites.ParseTarget(pods + "/a")
	w, ok := ownwrites.ReadWrite(http.MethodPut, target, nil, ownwrites.Body{Type: protobufType, Data: inProtobuf(t, "v1", "Pod", pod), Whole: true})
	require.True(t, ok)
	require.Equal(t, "8", w.Condition)
	pod.ResourceVersion = "9"
	r, ok := w.Result(http.StatusOK, ownwrites.Body{Type: protobufType, Data: inProtobuf(t, "v1", "Pod", pod), Whole: true})
	require.True(t, ok)
	raw, err := pod.Marshal()
	require.NoError(t, err)
	require.Equal(t, ownwrites.Result{
		Kind: ownwrites.Object, Identity: object.Identity{Key: w.Key(), UID: "u", Version: "9"}, Labels: pod.Labels, Form: ownwrites.Full, Proven: true,
		Encoded: ownwrites.Encoded{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Protobuf: true, Data: raw},
	}, r)

	options := &metav1.DeleteOptions{Preconditions: metav1.NewRVDeletionPrecondition("8").Preconditions}
	w, ok = ownwrites.ReadWrite(http.MethodDelete, target, nil, ownwrites.Body{Type: protobufType, Data: inProtobuf(t, "v1", "DeleteOptions", options), Whole: true})
	require.True(t, ok)
	require.Equal(t, "8", w.Condition)
	status := &metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: "a", UID: "u"}}
	r, ok = w.Result(http.StatusOK, ownwrites.Body{Type: protobufType, Data: inProtobuf(t, "v1", "Status", status), Whole: true})
	require.True(t, ok)
	require.Equal(t, ownwrites.Result{Kind: ownwrites.Undated, Identity: object.Identity{Key: w.Key(), UID: "u"}}, r)
	options.DryRun = []string{metav1.DryRunAll}
	_, ok = ownwrites.ReadWrite(http.MethodDelete, target, nil, ownwrites.Body{Type: protobufType, Data: inProtobuf(t, "v1", "DeleteOptions", options), Whole: true})
	require.False(t, ok)
}
