package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// The measured processes run this test's binary.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(runRole(role, os.Stdin, os.Stdout, os.Stderr))
	}
	program.Main(m)
}

// answering runs compare with an answer to its question, which needs no terminal in this test.
func answering(text string) program.Run {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, bytes.NewBufferString(text), stdout, stderr)
	}
}

var silent = answering("")

func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nobody to ask", nil, 2, "no terminal for the question: add --yes"},
		{"an argument", []string{"pods"}, 2, `unexpected argument "pods"; compare -h`},
		{"an unknown flag", []string{"--objects"}, 2, "-objects; compare -h"},
		{"a namespace", []string{"--namespace", "a_b"}, 2, "-namespace: a lowercase RFC 1123 label"},
		{"an empty kind", []string{"--kinds", "pods,,nodes"}, 2, "-kinds: has an empty name"},
		{"a kind twice", []string{"--kinds", "pods,Pods"}, 2, `-kinds: "pods" is listed twice`},
		{"a short time", []string{"--events", "10ms"}, 2, "-events: must be at least 1s"},
		{"no time", []string{"--events", "x"}, 2, "-events"},
		{"a format", []string{"-o", "yaml"}, 2, `-o: must be table or json`},
		{"no pods", []string{"--demo-pods", "0"}, 2, "-demo-pods: must be a positive number"},
		{"a demo of a cluster", []string{"--demo", "--kubeconfig", "x"}, 2, "--demo cannot be combined with --kubeconfig"},
		{"a demo of a context", []string{"--demo", "--context", "x"}, 2, "--demo cannot be combined with --context"},
		{"no kubeconfig", []string{"--yes", "--kubeconfig", "/nowhere"}, 1, `--kubeconfig and --context select no cluster \(--demo needs none\): stat /nowhere`},
		{"a dead server", []string{"--yes", "--kubeconfig", program.WriteKubeconfig(t, "http://127.0.0.1:1")}, 1, "the kinds of the server are unknown: .*connection refused"},
		{"an unknown kind", []string{"--demo", "--kinds", "pods,widgets"}, 2, "--kinds: widgets: the server has no such kind"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := silent.Start(t, row.args...)
			p.Exits(t, row.code)
			require.Regexp(t, `^compare: .*`, p.Stderr.String())
			require.Regexp(t, row.want, p.Stderr.String())
			require.Empty(t, p.Stdout.String())
		})
	}
}

func TestUsage(t *testing.T) {
	p := silent.Start(t, "-h")
	p.Exits(t, 0)
	for _, name := range []string{"-demo", "-kinds kinds", "-events duration", "-kubeconfig file", "-context name", "-namespace namespace", "-o format", "-yes"} {
		require.Contains(t, p.Stdout.String(), "  "+name+"\n")
	}
}

// Both libraries see the same objects and events of a small demo, in each of the three ways to read.
func TestDemo(t *testing.T) {
	p := silent.Start(t, "--demo", "--demo-pods", "60", "--events", "2s", "--kinds", "pods,secrets,nodes,databases.data.example.com", "-o", "json")
	p.Exits(t, 0)

	require.Regexp(t, `the demo: 60 pods, 12 secrets, 1 nodes, 30 databases.data.example.com\ncompare will send 16 lists with 412 objects in total`, p.Stderr.String())
	var r result
	require.NoError(t, json.Unmarshal([]byte(p.Stdout.String()), &r))
	readings := map[string]reading{}
	for _, k := range r.Kinds {
		readings[k.Kind] = k.Reading
		require.True(t, k.Objects.equal() && k.Events.equal(), "%+v", k)
	}
	require.Equal(t, map[string]reading{"pods": typed, "secrets": metadata, "nodes": typed, "databases.data.example.com": dynamic}, readings)
	require.Empty(t, r.Differences)
	for _, f := range []figures{r.ClientGo, r.Tidemark} {
		require.Equal(t, 103, f.Objects)
		require.NotZero(t, f.Events)
		require.NotZero(t, f.HeapBytes)
		require.NotZero(t, f.PeakRSSBytes)
		require.NotZero(t, f.SyncCPUSeconds)
		require.NotZero(t, f.EventsCPUSeconds)
	}
}

// Kinds that may not be read are left out and named. Objects are only read.
func TestClusterWithoutPermission(t *testing.T) {
	server := informertest.New(informertest.Options{})
	kubeconfig := program.Kubeconfig(t, server)
	for i := range 3 {
		require.NoError(t, server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("c-", i)}}))
	}
	server.Forbid(informertest.Request{Verb: "list", Resource: "secrets"})
	server.Forbid(informertest.Request{Verb: "watch", Resource: "nodes"})

	p := silent.Start(t, "--kubeconfig", kubeconfig, "--yes", "--events", "1s", "--kinds", "configmaps,secrets,nodes", "-n", "shop")
	p.Exits(t, 0)

	require.Regexp(t, `(?m)^left out: secrets: secrets .*forbidden`, p.Stderr.String())
	require.Regexp(t, `(?m)^left out: nodes: the server does not allow a watch: .*forbidden`, p.Stderr.String())
	require.Contains(t, p.Stderr.String(), "namespace shop of the cluster: 3 configmaps\ncompare will send 4 lists with 12 objects in total")
	require.Regexp(t, `(?m)^secrets +left out: `, p.Stdout.String())
	require.Regexp(t, `(?m)^CPU of 1 s of events .* too few events$`, p.Stdout.String())
	for _, r := range server.Requests() {
		require.Contains(t, []string{"list", "watch"}, r.Verb)
	}
}

func TestClusterWithoutAnyPermission(t *testing.T) {
	server := informertest.New(informertest.Options{})
	kubeconfig := program.Kubeconfig(t, server)
	server.Forbid(informertest.Request{Verb: "list"})

	p := silent.Start(t, "--kubeconfig", kubeconfig, "--yes")
	p.Exits(t, 1)
	require.Regexp(t, `compare: none of the kinds can be measured\n$`, p.Stderr.String())
}

// After Ctrl-C, no process is left: the program returns after they have ended, and the test's server has no
// open watch.
func TestInterrupted(t *testing.T) {
	server := informertest.New(informertest.Options{})
	kubeconfig := program.Kubeconfig(t, server)

	p := silent.Start(t, "--kubeconfig", kubeconfig, "--yes", "--events", "1h", "--kinds", "pods")
	p.Notes(t, "events, both at once")
	p.Interrupt()
	p.Exits(t, 1)

	require.Regexp(t, `compare: interrupted\n$`, p.Stderr.String())
	require.Empty(t, p.Stdout.String())
}

func TestQuestion(t *testing.T) {
	for text, yes := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yes": true} {
		var asked bytes.Buffer
		err := ask(t.Context(), bytes.NewBufferString(text), &asked)
		if yes {
			require.NoError(t, err, "%q", text)
		} else {
			require.ErrorIs(t, err, errDeclined, "%q", text)
		}
		require.Equal(t, "Begin? [y/N] ", asked.String())
	}
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test -args -rewrite writes the golden files anew")
}
