package ownwrites_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	objects "github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/testutil/claims"
)

// The scripts in testdata/answers, in the language of package claims, contain each kind of write. For
// each script, a .json file has the answers of a kube-apiserver to its writes, and a .golden file has
// their meaning. After a change of a script, record it again: go test -run '^TestRecord' -args -record
// -rewrite.

var (
	record  = flag.Bool("record", false, "record the answers of the cluster of CLAIMS_KUBECONFIG")
	rewrite = flag.Bool("rewrite", false, "rewrite the golden files from the recorded answers")
)

// exchange is a write and its answer.
type exchange struct {
	Method, URL string
	Type, Body  string `json:",omitempty"`
	Code        int
	AnswerType  string
	Answer      json.RawMessage `json:",omitempty"` // in JSON, without irrelevant parts
	Protobuf    []byte          `json:",omitempty"` // in protobuf
}

// recorder is a transport that records writes and their answers.
type recorder struct {
	next http.RoundTripper
	made []exchange
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || strings.Contains(request.URL.Path, "customresourcedefinitions") {
		return r.next.RoundTrip(request)
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	sent, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	answer, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	x := exchange{
		Method: request.Method, URL: request.URL.RequestURI(), Type: request.Header.Get("Content-Type"), Body: string(sent),
		Code: answer.StatusCode, AnswerType: answer.Header.Get("Content-Type"),
	}
	if strings.HasPrefix(x.AnswerType, jsonType) {
		x.Answer = text
	} else {
		x.Protobuf = text
	}
	r.made = append(r.made, x)
	return answer, nil
}

// played plays a script, and returns its writes.
func played(t *testing.T, s claims.Server, script string) []exchange {
	t.Helper()
	text, err := os.ReadFile(answersOf(script, "txt"))
	require.NoError(t, err)
	r := &recorder{next: s.Client.Transport}
	s.Client = &http.Client{Transport: r}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // limits a wait for a kind that is not served
	defer cancel()
	require.NoError(t, s.Play(ctx, string(text)))
	return r.made
}

func answersOf(script, kind string) string { return "testdata/answers/" + script + "." + kind }

// meanings describes what answers mean: the kind of the result, and the number and version of the
// object.
type meanings struct {
	uids     map[string]int
	versions map[string]string // the newest known version of each object
}

// made matches the namespace name that a server generates for a script.
var made = regexp.MustCompile(`claims-[a-z0-9]{5}`)

// golden describes what the answers to writes mean, one per line.
func golden(t *testing.T, all []exchange) string {
	t.Helper()
	m := meanings{map[string]int{}, map[string]string{}}
	var lines strings.Builder
	for _, x := range all {
		path, _, _ := strings.Cut(x.URL, "?")
		target, ok := ownwrites.ParseTarget(path)
		require.True(t, ok, path)
		what := strings.TrimRight(strings.Join([]string{target.Resource, target.Name, target.Subresource}, "/"), "/")
		fmt.Fprintf(&lines, "%s %s: %d: %s\n", x.Method, made.ReplaceAllString(what, "NS"), x.Code, m.of(t, target, x))
	}
	return lines.String()
}

func (m meanings) of(t *testing.T, target ownwrites.Target, x exchange) string {
	t.Helper()
	u, err := url.ParseRequestURI(x.URL)
	require.NoError(t, err)
	w, ok := ownwrites.ReadWrite(x.Method, target, u.Query(), ownwrites.Body{Type: x.Type, Data: []byte(x.Body), Whole: true})
	if !ok {
		return "no write"
	}
	answer := ownwrites.Body{Type: x.AnswerType, Data: x.Answer, Whole: true}
	if x.Protobuf != nil {
		answer.Data = x.Protobuf
	}
	r, ok := w.Result(x.Code, answer)
	if !ok {
		return "nothing"
	}
	kind := []string{"doubt", "object", "emptied", "deleted", "undated"}[r.Kind]
	if r.Kind == ownwrites.Doubt {
		return kind
	}
	return kind + m.identity(r) + flags(r)
}

// identity returns the number of an object in the order of first occurrence. It says whether the
// answer's version is newer than, older than or equal to the newest version of the object so far.
func (m meanings) identity(r ownwrites.Result) string {
	if m.uids[r.UID] == 0 {
		m.uids[r.UID] = len(m.uids) + 1
	}
	version, known := "older", m.versions[r.UID]
	switch {
	case r.Version == "":
		version = "no version"
	case known == "":
		version = "first"
	case r.Version == known:
		version = "same"
	case objects.Older(known, r.Version):
		version = "newer"
	}
	if version == "first" || version == "newer" {
		m.versions[r.UID] = r.Version
	}
	return fmt.Sprintf(" %d, %s", m.uids[r.UID], version)
}

func flags(r ownwrites.Result) (text string) {
	switch {
	case r.Kind == ownwrites.Undated:
	case r.Form == ownwrites.Metadata:
		text = ", metadata"
	case r.Form == ownwrites.Other:
		text = ", another kind"
	}
	if r.Proven {
		text += ", proven"
	}
	return text
}

// TestRecord records the answers of a cluster by a kubeconfig, such as the one that make controlplane
// prints. It creates and deletes objects.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("the flag -record is not set")
	}
	c, err := clientcmd.BuildConfigFromFlags("", os.Getenv("CLAIMS_KUBECONFIG"))
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	defer utilnet.CloseIdleConnectionsFor(client.Transport)
	for _, script := range []string{"common", "cluster"} {
		var lines []string
		for _, x := range played(t, claims.Server{URL: c.Host, Client: client}, script) {
			x.Answer = shorten(t, x.Answer)
			line, err := json.Marshal(x)
			require.NoError(t, err)
			lines = append(lines, string(line))
		}
		text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
		require.NoError(t, os.WriteFile(answersOf(script, "json"), []byte(text), 0o600))
	}
}

// The recorded answers of a real server have the expected meanings.
func TestRecordedAnswers(t *testing.T) {
	for _, script := range []string{"common", "cluster"} {
		var all []exchange
		text, err := os.ReadFile(answersOf(script, "json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &all))
		found := golden(t, all)
		if *rewrite {
			require.NoError(t, os.WriteFile(answersOf(script, "golden"), []byte(found), 0o600))
		}
		want, err := os.ReadFile(answersOf(script, "golden"))
		require.NoError(t, err)
		require.Equal(t, string(want), found, script)
	}
}

// The answers of informertest have the same meanings.
func TestAnswersOfInformertest(t *testing.T) {
	s := informertest.New(informertest.Options{})
	defer s.Close()
	require.NoError(t, s.Start())
	all := played(t, claims.Server{
		URL: s.ClientConfig().Host, Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Register: func(k claims.Kind) error {
			gvr := schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
			return s.Register(informertest.Kind{
				GVR: gvr, GVK: gvr.GroupVersion().WithKind(k.Kind), Namespaced: k.Namespaced, Generation: true, Status: true, Scale: true,
			})
		},
		Unregister: func(k claims.Kind) error {
			return s.Unregister(schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource})
		},
	}, "common")
	want, err := os.ReadFile(answersOf("common", "golden"))
	require.NoError(t, err)
	require.Equal(t, string(want), golden(t, all))
}

// shorten removes the parts of an answer that say nothing about the outcome.
func shorten(t *testing.T, answer json.RawMessage) json.RawMessage {
	t.Helper()
	if answer == nil {
		return nil
	}
	content := map[string]any{}
	require.NoError(t, json.Unmarshal(answer, &content))
	for _, field := range []string{"spec", "data", "items", "ports", "subsets"} {
		delete(content, field)
	}
	if content["kind"] != "Status" {
		delete(content, "status")
	}
	if meta, ok := content["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	short, err := json.Marshal(content)
	require.NoError(t, err)
	return short
}
