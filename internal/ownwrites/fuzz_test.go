package ownwrites_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// For any request, the path is read like the twin does, and the body like apimachinery does.
func FuzzRequest(f *testing.F) {
	f.Add(http.MethodPut, pods+"/a", "", jsonType, []byte(`{"metadata":{"resourceVersion":"8"}}`))
	f.Add(http.MethodPost, pods, "dryRun=All", jsonType, []byte(`{"metadata":{"name":"a"}}`))
	f.Add(http.MethodDelete, widgets+"/a", "", jsonType, []byte(`{"dryRun":["All"],"preconditions":{"resourceVersion":"8"}}`))
	f.Add(http.MethodDelete, "/k8s/c/api/v1/namespaces/a", "", protobufType, inProtobuf(f, "v1", "DeleteOptions", &metav1.DeleteOptions{DryRun: []string{"All"}}))
	f.Add(http.MethodPut, pods+"/a/status", "", protobufType, inProtobuf(f, "v1", "Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "8"}}))
	f.Add(http.MethodPatch, "/apis/g/v1/x/proxy/api/v1/pods", "a=%", mergeType, []byte(`{"metadata":{"metadata":{},"resourceVersion":null}}`))
	f.Fuzz(func(t *testing.T, method, path, rawQuery, mediaType string, data []byte) {
		target, ok := ownwrites.ParseTarget(path)
		slow, slowOK := parseSlowly(path)
		require.Equal(t, slowOK, ok)
		if !ok {
			return
		}
		require.Equal(t, slow, target)
		query, _ := url.ParseQuery(rawQuery)
		w, ok := ownwrites.ReadWrite(method, target, query, ownwrites.Body{Type: mediaType, Data: data, Whole: true})
		blind, blindOK := ownwrites.ReadWrite(method, target, query, ownwrites.Body{})
		require.True(t, blindOK || !ok, "a body cannot turn another request into a write")
		require.Empty(t, blind.Condition)
		if !ok || mediaType != jsonType {
			return
		}
		if method == http.MethodDelete {
			var o metav1.DeleteOptions
			if len(data) > 0 && json.Unmarshal(data, &o) == nil {
				require.Empty(t, o.DryRun)
			}
			return
		}
		var o metav1.PartialObjectMetadata
		if w.Condition != "" && json.Unmarshal(data, &o) == nil {
			require.Equal(t, o.ResourceVersion, w.Condition)
		}
	})
}

// The result never contains anything that the answer does not. Only answers to DELETE are deletions.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		encoded("v1", "Pod", "n", ""), encoded("v1", "Pod", "n", atOnce), encoded("v1", "Pod", "n", graceful), encoded("v1", "Pod", "n", marked+held), success,
		encoded("meta.k8s.io/v1", "PartialObjectMetadata", "n", `,"labels":{"a":"b"}`), `{"metadata":{"uid":"a","uid":"b"},"kind":"x"}`, "[", "",
	} {
		f.Add(uint8(0), 200, jsonType, "", []byte(answer))
		f.Add(uint8(1), 200, jsonType, "", []byte(answer))
		f.Add(uint8(2), 201, jsonType, "", []byte(answer))
	}
	f.Add(uint8(0), 200, protobufType, "", inProtobuf(f, "v1", "Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", UID: "u", ResourceVersion: "9"}}))
	f.Add(uint8(0), 200, protobufType, "", inProtobuf(f, "v1", "Status", &metav1.Status{Status: "Success", Details: &metav1.StatusDetails{UID: "u"}}))
	requests := []row{
		{method: http.MethodDelete, path: pods + "/a"},
		{method: http.MethodPut, path: pods + "/a", body: `{"metadata":{"resourceVersion":"8"}}`},
		{method: http.MethodPost, path: pods},
		{method: http.MethodPut, path: deployments + "/a/scale"},
		{method: http.MethodPost, path: pods + "/a/eviction"},
	}
	f.Fuzz(func(t *testing.T, i uint8, code int, mediaType, encoding string, data []byte) {
		request := requests[int(i)%len(requests)]
		w, ok := request.read(t)
		require.True(t, ok)
		r, ok := w.Result(code, ownwrites.Body{Type: mediaType, Encoding: encoding, Data: data, Whole: true})
		require.Equal(t, code >= 200 && code < 300 || code >= 500 || slices.Contains([]int{307, 308, 408, 499}, code), ok)
		if !ok || r.Kind == ownwrites.Doubt {
			require.Empty(t, r.UID+r.Version)
			require.False(t, r.Proven)
			return
		}
		require.Less(t, code, 300)
		require.Empty(t, encoding, "or the identity encoding, which no seed has")
		var m metav1.PartialObjectMetadata
		var s metav1.Status
		if decode(r.Encoded, data, &m, &s) != nil {
			return // an unneeded part is malformed
		}
		switch r.Kind {
		case ownwrites.Undated:
			require.Equal(t, http.MethodDelete, request.method)
			require.NotEqual(t, http.StatusAccepted, code)
			require.Equal(t, "Success", s.Status)
			require.Equal(t, string(s.Details.UID), r.UID)
			return
		case ownwrites.Deleted:
			require.Equal(t, http.MethodDelete, request.method)
			require.NotEqual(t, http.StatusAccepted, code)
			require.Empty(t, m.Finalizers)
			require.True(t, m.DeletionTimestamp == nil || *m.DeletionGracePeriodSeconds == 0)
			require.NotEqual(t, ownwrites.Other, r.Form)
		case ownwrites.Emptied:
			require.Equal(t, http.MethodPut, request.method)
			require.NotNil(t, m.DeletionTimestamp)
			require.Empty(t, m.Finalizers)
		}
		require.Equal(t, [4]string{m.Namespace, m.Name, string(m.UID), m.ResourceVersion}, [4]string{r.Key.Namespace, r.Key.Name, r.UID, r.Version})
		require.Equal(t, len(m.Labels), len(r.Labels))
	})
}

// decode decodes the object of an answer with apimachinery's code. It also decodes a Status, but does
// not keep it.
func decode(e ownwrites.Encoded, data []byte, m *metav1.PartialObjectMetadata, s *metav1.Status) error {
	u := runtime.Unknown{}
	switch {
	case e.Protobuf:
		return m.Unmarshal(e.Data)
	case e.Data != nil:
		return json.Unmarshal(e.Data, m)
	case len(data) > 4 && string(data[:4]) == "k8s\x00" && u.Unmarshal(data[4:]) == nil:
		return s.Unmarshal(u.Raw)
	}
	return json.Unmarshal(data, s)
}
