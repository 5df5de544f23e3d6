package informertest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// seedRequests has requests of all kinds: method, target, Content-Type and body.
var seedRequests = [][4]string{
	{"GET", "/api/v1/pods"},
	{"GET", "/api/v1/pods?limit=1"},
	{"GET", "/api/v1/pods?limit=-1&continue=x"},
	{"GET", "/api/v1/pods?resourceVersion=2&resourceVersionMatch=Exact"},
	{"GET", "/api/v1/pods?resourceVersion=99999999999999999999"},
	{"GET", "/api/v1/pods?labelSelector=app+in+(web,db),!x&fieldSelector=status.phase!%3DFailed,metadata.name%3Dp"},
	{"GET", "/api/v1/pods?fieldSelector=spec.x%3D1&timeoutSeconds=-1&labelSelector=%3D"},
	{"GET", "/api/v1/namespaces/a/pods?continue=" + token{Version: 3, Start: "p\x00"}.String() + "&limit=1"},
	{"GET", "/api/v1/pods?continue=" + token{Version: -1, Start: "a/"}.String()},
	{"GET", "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=1&allowWatchBookmarks=true"},
	{"GET", "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"},
	{"GET", "/api/v1/pods?watch=true&resourceVersion=x"},
	{"GET", "/api/v1/pods?shardSelector=shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')&limit=1"},
	{"GET", "/api/v1/pods?watch=1&timeoutSeconds=1&shardSelector=shardRange(object.metadata.namespace,'0x0','0x8')||x"},
	{"GET", "/api/v1/watch/pods"},
	{"GET", "/api/v1/namespaces/a/pods/p?resourceVersion=x"},
	{"GET", "/apis/example.com/v1/namespaces/a/crons/c/scale"},
	{"GET", "/apis/apps/v1/namespaces/a/deployments/d/scale"},
	{"GET", "/apis/apps/v1"}, {"GET", "/api//v1"}, {"GET", "/"}, {"GET", "/version"}, {"HEAD", "/readyz"},
	{"POST", "/api/v1/namespaces/a/pods", "application/json", `{"metadata":{"generateName":"x-"}}`},
	{"POST", "/api/v1/namespaces/a/pods", "application/json", `{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"}}`},
	{"POST", "/api/v1/nodes", "application/json", `{"metadata":{"name":"x","creationTimestamp":"0","ownerReferences":[null]}}`},
	{"POST", "/apis/example.com/v1/namespaces/a/crons", "application/json", `{"apiVersion":"example.com/v1","kind":"Cron","metadata":{"name":"x","labels":[]},"spec":7}`},
	{"POST", "/apis/example.com/v1/namespaces/a/crons", "application/json", `{"apiVersion":"example.com/v1","kind":"Cron","metadata":null,"status":[]}`},
	{"POST", "/api/v1/namespaces/a/pods", "application/vnd.kubernetes.protobuf", "k8s\x00\n\x00"},
	{"PUT", "/api/v1/namespaces/a/pods/p", "application/json", `{"metadata":{"name":"p","resourceVersion":"x"}}`},
	{"PUT", "/apis/example.com/v1/namespaces/a/crons/c/scale", "application/json", `{"metadata":{"name":"c"},"spec":{"replicas":3}}`},
	{"PUT", "/apis/example.com/v1/namespaces/a/crons/c/status", "application/json", `{"apiVersion":"example.com/v1","kind":"Cron","metadata":{"name":"c"},"status":1}`},
	{"PUT", "/apis/example.com/v1/namespaces/a/crons/c", "application/json", `{"apiVersion":"example.com/v1","kind":"Cron","metadata":{"name":"c"},"spec":"daily"}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/merge-patch+json", `{"metadata":{"labels":{"app":null,"x":"y"}}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/merge-patch+json", `null`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/merge-patch+json", `[]`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/json-patch+json", `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/json-patch+json", `[{"op":"move","from":"","path":"/a"}]`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/json-patch+json", `[{"op":"remove","path":"/spec/containers/-1"},{"op":"copy"},null]`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"b","image":"2"},{"$patch":"replace"}]}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":{}}]}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p", "application/strategic-merge-patch+json", `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[null]}}`},
	{"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", "application/merge-patch+json", `{"spec":{"replicas":4294967296}}`},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c", "application/merge-patch+json", `{"spec":"daily","status":{"replicas":1.5}}`},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c/scale", "application/merge-patch+json", `{"spec":{"replicas":-1}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p?fieldManager=x", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"b"},null]}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/q?fieldManager=x", "application/apply-patch+yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: q\n"},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c?fieldManager=x&force=1", "application/apply-patch+yaml", `{"apiVersion":"example.com/v1","kind":"Cron","spec":[{"a":1.5},null]}`},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c/scale?fieldManager=x&force=1", "application/apply-patch+yaml", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":"x"}}`},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c/status?fieldManager=x", "application/apply-patch+yaml", `{"apiVersion":"example.com/v1","kind":"Cron","metadata":{"name":7,"uid":null},"status":1}`},
	{"POST", "/api/v1/namespaces/a/secrets?fieldValidation=Strict", "application/json", `{"metadata":{"name":"s","finalizers":["x"]},"stringData":{"k":"v"}}`},
	{"POST", "/api/v1/namespaces/a/secrets?fieldValidation=Strict", "application/json", `{"metadata":{"name":"s"},"stringData":{"k":"v","k":"w"}}`},
	{"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", "application/json", `{"metadata":{"name":"l","resourceVersion":"7"}}`},
	{"PATCH", "/api/v1/namespaces/a/pods/p?fieldValidation=Strict", "application/merge-patch+json", `{"kind":"Secret","x":[{"a":1,"a":null}]}`},
	{"PATCH", "/apis/example.com/v1/namespaces/a/crons/c?fieldValidation=Strict", "application/merge-patch+json", `{"kind":"Tab","metadata":{"x":1}}`},
	{"DELETE", "/api/v1/namespaces/a/pods/p", "application/json", `{"preconditions":{"uid":"x"}}`},
	{"DELETE", "/api/v1/namespaces/a/pods/p?dryRun=All", "", ""},
	{"DELETE", "/api/v1/namespaces/a/pods", "", ""},
	{"DELETE", "/api/v1/namespaces/b/pods/p?gracePeriodSeconds=9223372036854775807", "", ""},
	{"DELETE", "/api/v1/namespaces/b/pods/p", "application/json", `{"gracePeriodSeconds":-1,"propagationPolicy":"Orphan"}`},
	{"DELETE", "/api/v1/namespaces/a?dryRun=All", "", ""},
	{"PUT", "/api/v1/namespaces/a/finalize", "application/json", `{"metadata":{"name":"a"},"spec":{"finalizers":["x",""]}}`},
	{"PATCH", "/api/v1/namespaces/a/finalize", "application/merge-patch+json", `{"spec":null}`},
}

// The server answers every HTTP request in the form of a real server, and still works afterward.
func FuzzRequest(f *testing.F) {
	for _, r := range seedRequests {
		f.Add(r[0], r[1], r[2], "", r[3])
	}
	f.Add("GET", "/api/v1/pods", "", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "")
	f.Add("GET", "/api/v1/pods?watch=1", "", "application/vnd.kubernetes.protobuf, */*;q=0.1", "")
	f.Fuzz(func(t *testing.T, method, target, media, accept, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.HasPrefix(target, "//") {
			return // net/http rejects it
		}
		inBubble(t, Options{ShardedListAndWatch: true}, func(t *testing.T, s *Server) {
			addObjects(t, s)
			request := &http.Request{Method: method, URL: u, Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
			if body != "" {
				request.Body = readCloser{strings.NewReader(body)}
			}
			for name, value := range map[string]string{"Content-Type": media, "Accept": accept} {
				if value != "" {
					request.Header.Set(name, value)
				}
			}
			before := s.model.version
			answer := serveOne(t, s, request)
			checkAnswer(t, answer)
			require.True(t, s.model.version == before || answer.Code < http.StatusMultipleChoices, "what is refused changes nothing")
			if s.model.version > before {
				checkUsable(t, s)
			}
		})
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// addObjects creates objects of several kinds.
func addObjects(t *testing.T, s *Server) {
	require.NoError(t, s.Register(cronKind))
	pod := newPod("a", "p", "app", "web")
	pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "1"}, {Name: "b", Image: "1"}}
	cron, hosted := newCron("a", "c", "daily"), newHosted("p", 30)
	hosted.Namespace = "b"
	for _, obj := range []apiObject{
		pod, newPod("a", "q"), hosted, cron,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}},
	} {
		require.NoError(t, s.Create(t.Context(), obj))
	}
}

// serveOne serves one request. A watch lasts two seconds.
func serveOne(t *testing.T, s *Server, request *http.Request) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	answer := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ServeHTTP(answer, request.WithContext(ctx))
	}()
	synctest.Wait()
	s.Bookmark()
	<-done
	return answer
}

// checkAnswer checks an answer as a client would.
func checkAnswer(t *testing.T, answer *httptest.ResponseRecorder) {
	body := answer.Body.Bytes()
	if answer.Header().Get("Content-Type") == runtime.ContentTypeJSON {
		for _, line := range bytes.Split(bytes.TrimSpace(body), []byte("\n")) { // a watch has several lines
			require.True(t, json.Valid(line), "%s", line)
		}
	}
	if answer.Code < http.StatusInternalServerError {
		return
	}
	var status metav1.Status
	require.NoError(t, json.Unmarshal(body, &status), "%s", body)
	switch status.Reason {
	case metav1.StatusReasonTimeout: // a version from the future
	case "": // errPlain, as from a real server
	default:
		t.Errorf("%d: %s", answer.Code, body)
	}
}

// checkUsable lists and watches all objects in all forms.
func checkUsable(t *testing.T, s *Server) {
	s.mu.Lock()
	s.model.check()
	s.mu.Unlock()
	for _, target := range []string{
		"/api/v1/pods", "/api/v1/pods?watch=1&resourceVersion=1", "/api/v1/nodes", "/apis/apps/v1/deployments",
		"/apis/example.com/v1/crons", "/apis/example.com/v1/crons?watch=1&resourceVersion=1",
		"/apis/apps/v1/namespaces/a/deployments/d/scale", "/apis/example.com/v1/namespaces/a/crons/c/scale",
	} {
		for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf,application/json"} {
			u, err := url.ParseRequestURI(target)
			require.NoError(t, err)
			answer := serveOne(t, s, &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"Accept": {accept}}, Body: http.NoBody})
			require.True(t, answer.Code == http.StatusOK || answer.Code == http.StatusNotFound && strings.HasSuffix(target, "scale"), "%s: %s", target, answer.Body)
			checkAnswer(t, answer)
		}
	}
}
