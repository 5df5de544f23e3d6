package informertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

func TestRequestsShowWhatAControllerDid(t *testing.T) {
	s := startServer(t, Options{})
	config := s.ClientConfig()
	config.UserAgent = "controller/v1"
	ctx, client := t.Context(), newClient(t, config).CoreV1().Pods("a")
	_, err := client.Create(ctx, newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.Patch(ctx, "p", types.MergePatchType, []byte(`{"status":{"reason":"x"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	_, err = client.Apply(ctx, applycorev1.Pod("p", "a"), metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	_, err = client.List(ctx, metav1.ListOptions{LabelSelector: "app in (x,y)", FieldSelector: "spec.nodeName=n"})
	require.NoError(t, err)
	w, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: "app=x"})
	require.NoError(t, err)
	w.Stop()
	require.NoError(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=x"}))
	allow := s.Forbid(Request{UserAgent: "controller/v1", Verb: "delete"})
	require.Error(t, client.Delete(ctx, "p", metav1.DeleteOptions{}))
	allow()
	_, err = s.Source(pods, "a").List(ctx, metav1.ListOptions{LabelSelector: "app=x"})
	require.NoError(t, err)

	about := func(r Request) Request {
		r.Version, r.Resource, r.Namespace = "v1", "pods", "a"
		if r.UserAgent == "" {
			r.UserAgent = "controller/v1"
		}
		return r
	}
	all := s.Requests()
	for i := range all {
		all[i].Body = strings.TrimSpace(all[i].Body)
	}
	assert.Contains(t, all[0].Body, `"name":"p"`)
	all[0].Body = ""
	anonymous := about(Request{Verb: "list", LabelSelector: "app=x"})
	anonymous.UserAgent = ""
	assert.Equal(t, Requests{
		about(Request{Verb: "create", ContentType: "application/json"}),
		about(Request{Verb: "patch", Name: "p", Subresource: "status", ContentType: "application/merge-patch+json", Body: `{"status":{"reason":"x"}}`}),
		about(Request{Verb: "patch", Name: "p", ContentType: "application/apply-patch+yaml", Body: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"a"}}`}),
		about(Request{Verb: "list", LabelSelector: "app in (x,y)", FieldSelector: "spec.nodeName=n"}),
		about(Request{Verb: "watch", LabelSelector: "app=x"}),
		about(Request{Verb: "deletecollection", LabelSelector: "app=x", ContentType: "application/json", Body: `{"kind":"DeleteOptions","apiVersion":"v1"}`}),
		about(Request{Verb: "delete", Name: "p", ContentType: "application/json"}), // refused before the body is read
		anonymous,
	}, all)
	assert.Len(t, all.Of(Request{Verb: "patch", Resource: "pods"}), 2)
	assert.Len(t, all.Of(Request{Verb: "patch", Subresource: "status"}), 1)
	assert.Empty(t, all.Of(Request{Verb: "update"}))
	assert.Equal(t, map[string]int{"create": 1, "patch": 2, "list": 2, "watch": 1, "deletecollection": 1, "delete": 1}, s.Counts())
}

// A server that runs for long keeps no more requests than documented.
func TestRequestsAreBounded(t *testing.T) {
	var j journal
	for i := range 3*keptRequests + 7 {
		j.add(Request{Verb: "get", Name: fmt.Sprint(i)})
		require.Less(t, len(j.kept), 2*keptRequests)
	}
	all := j.requests()
	require.Len(t, all, keptRequests)
	assert.Equal(t, fmt.Sprint(2*keptRequests+7), all[0].Name)
	assert.Equal(t, fmt.Sprint(3*keptRequests+6), all[keptRequests-1].Name)
	assert.Equal(t, map[string]int{"get": 3*keptRequests + 7}, j.counts)

	s := New(Options{})
	defer s.Close()
	sendRequest[metav1.Status](t, s, "POST", "/api/v1/namespaces/a/pods", strings.Repeat("x", keptBody+1))
	assert.Len(t, s.Requests()[0].Body, keptBody)
}
