package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/informer"
)

func TestPodsAreWatched(t *testing.T) {
	s := startServer(t)
	ctx := t.Context()
	require.NoError(t, s.Create(ctx, newPod("shop", "old", "web")))
	p := start(t, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host))
	p.prints(t, stamp+"New Pod Added to Store: old$")
	require.NoError(t, s.Create(ctx, newPod("billing", "new", "db")))
	p.prints(t, stamp+"New Pod Added to Store: new$")
	require.NoError(t, s.Update(ctx, newPod("shop", "old", "cart")))
	p.prints(t, stamp+"old Pod Updated to old$")
	require.NoError(t, s.Delete(ctx, newPod("billing", "new", "db")))
	p.prints(t, stamp+"Pod Deleted from Store: new$")

	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, `
podwatch ran for .*
  events     4: 2 added, 1 updated, 1 deleted
  store      1 pod at resourceVersion 5
  synced     after .*
  staleness  .* since the server last sent anything
  relists    0
  errors     0
$`, p.stdout)
	assert.Empty(t, p.stderr.String())
	assert.Equal(t, map[string]int{"watchlist": 1}, s.Counts(), "it streams, and knows that it can")
}

func TestNamespaceAndSelector(t *testing.T) {
	s := startServer(t)
	ctx := t.Context()
	require.NoError(t, s.Create(ctx, newPod("shop", "web", "web")))
	require.NoError(t, s.Create(ctx, newPod("shop", "db", "db")))
	require.NoError(t, s.Create(ctx, newPod("billing", "other", "web")))
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, writeKubeconfig(t, s.ClientConfig().Host))
	p := start(t, "--namespace", "shop", "--selector", "app in (web, cart)")
	p.prints(t, "Added to Store: web$")
	require.NoError(t, s.Update(ctx, newPod("shop", "db", "cart")))
	p.prints(t, "Added to Store: db$")
	require.NoError(t, s.Update(ctx, newPod("shop", "web", "db")))
	p.prints(t, "Deleted from Store: web$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Contains(t, p.stdout.String(), "3: 2 added, 0 updated, 1 deleted")
	assert.NotContains(t, p.stdout.String(), "other")
}

func TestFieldSelector(t *testing.T) {
	s := startServer(t)
	pod := newPod("shop", "web", "web")
	require.NoError(t, s.Create(t.Context(), newPod("shop", "db", "db")))
	require.NoError(t, s.Create(t.Context(), pod))
	path := writeKubeconfig(t, s.ClientConfig().Host)
	p := start(t, "--kubeconfig", path, "--field-selector", "status.phase=Running,metadata.namespace=shop", "--selector", "app=web")
	p.becomes(t, s, pod, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }, "Added to Store: web$")
	p.becomes(t, s, pod, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }, "Deleted from Store: web$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Contains(t, p.stdout.String(), "2: 1 added, 0 updated, 1 deleted")

	line := failure(t, "--kubeconfig", path, "--field-selector", "spec.frob=x")
	assert.Contains(t, line, "--field-selector spec.frob=x: ")
	assert.Contains(t, line, "spec.frob")
}

func TestContext(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("shop", "web", "web")))
	path := writeContexts(t, "dead", map[string]string{"dead": "http://127.0.0.1:1", "alive": s.ClientConfig().Host})
	p := start(t, "--kubeconfig", path, "--context", "alive")
	p.prints(t, "Added to Store: web$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
}

func TestResync(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("shop", "web", "web")))
	p := start(t, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host), "--resync", "1s", "--output", "json")
	p.prints(t, `"updated",.*"name":"web",.*"changed":\["resync"\]`)
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, `(?m)^  events     \d+: 1 added, (\d+) updated \(\d+ by resyncs\), 0 deleted$`, p.stderr)
}

func TestDemo(t *testing.T) {
	for _, row := range []struct {
		name, why, pods string
		args            []string
	}{
		{"asked for", "this is a demo cluster", "web|cart|invoices", []string{"--demo"}},
		{"no kubeconfig", "found no kubeconfig, so this is a demo cluster", "web|cart|invoices", nil},
		{"of a node", "this is a demo cluster", "web|cart|invoices", []string{"--demo", "--field-selector", "spec.nodeName!=node-1"}},
		{"of one app", "this is a demo cluster", "cart", []string{"--demo", "--namespace", "mine", "--selector", "app=cart"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := start(t, row.args...)
			pod := "(" + row.pods + `)-\w{10}-\w{5}`
			p.prints(t, stamp+"New Pod Added to Store: "+pod+"$")
			p.prints(t, stamp+pod+" Pod Updated to "+pod+"$")
			p.prints(t, stamp+"Pod Deleted from Store: "+pod+"$")
			p.interrupt()
			assert.Zero(t, <-p.exit)
			assert.Regexp(t, stamp+"podwatch: "+row.why+": an API server in this process, http://127.0.0.1:.*\n", p.stderr)
			assert.Regexp(t, "(?m)^  errors     0$", p.stdout)
		})
	}
}

func TestTheTimeIsUp(t *testing.T) {
	p := start(t, "--demo", "--for", "2s")
	assert.Zero(t, <-p.exit)
	assert.Contains(t, p.stdout.String(), "podwatch ran for")
	p.interrupt()
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stdout := newTranscript()
	assert.Zero(t, run(ctx, []string{"--demo"}, stdout, newTranscript()))
	// The demo cluster may answer before the informer learns that the context has ended.
	assert.Regexp(t, `(?m)^  synced     (no|after [0-9.]+[mµ]?s)$`, stdout.String())
}

func TestUsage(t *testing.T) {
	stdout, stderr := newTranscript(), newTranscript()
	assert.Zero(t, run(t.Context(), []string{"-h"}, stdout, stderr))
	for _, name := range []string{"-context name", "-demo", "-field-selector fields", "-for duration", "-kubeconfig file",
		"-namespace namespace", "-output format", "-resync duration", "-selector labels"} {
		assert.Contains(t, stdout.String(), "  "+name+"\n")
	}
	assert.Contains(t, stdout.String(), "$KUBECONFIG, ~/.kube/config, or the pod's\nservice account")
	assert.Empty(t, stderr.String())
}

func TestFlagsThatAreWrong(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"--for -3s", `flag -for: must not be negative`},
		{"--for 10", `flag -for: time: missing unit`},
		{"--selector app==web=x", `flag -selector: found '='`},
		{"--namespace a/b", `flag -namespace: a lowercase RFC 1123 label`},
		{"--frob", `flag provided but not defined: -frob`},
		{"--demo pods", `unexpected argument "pods"`},
		{"--demo --kubeconfig x", `--demo cannot be combined with --kubeconfig`},
		{"--demo --context x", `--demo cannot be combined with --context`},
		{"--field-selector status.phase", `flag -field-selector: invalid selector`},
		{"--output yaml", `flag -output: must be text or json`},
		{"--resync -1m", `flag -resync: must not be negative`},
		{"--resync 10ms", `flag -resync: must be at least 1s`},
	} {
		t.Run(row.args, func(t *testing.T) {
			line := failure(t, strings.Fields(row.args)...)
			assert.Contains(t, line, row.want)
			assert.Contains(t, line, "podwatch -h")
		})
	}
}

// answering returns a kubeconfig of a server that answers every request with an error.
func answering(t *testing.T, err *apierrors.StatusError) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(err.ErrStatus.Code))
		status := err.ErrStatus
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		assert.NoError(t, json.NewEncoder(w).Encode(status))
	}))
	t.Cleanup(s.Close)
	return writeKubeconfig(t, s.URL)
}

func TestNoPermission(t *testing.T) {
	path := answering(t, apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf(`User "jane" cannot list resource "pods"`)))

	line := failure(t, "--kubeconfig", path, "--namespace", "shop")
	assert.Contains(t, line, `no permission to list pods in namespace shop (pods is forbidden: User "jane" cannot list resource "pods")`)
	assert.Contains(t, line, "ask for a Role in this namespace with the verbs list and watch on pods")

	line = failure(t, "--kubeconfig", path)
	assert.Contains(t, line, "no permission to list pods in all namespaces")
	assert.Contains(t, line, "ask for a ClusterRole with the verbs list and watch on pods, or choose a namespace with --namespace")
}

func TestUnauthorized(t *testing.T) {
	path := answering(t, apierrors.NewUnauthorized("Unauthorized"))
	line := failure(t, "--kubeconfig", path)
	assert.Equal(t, "podwatch: list pods: Unauthorized", line)
}

func TestServerThatIsDead(t *testing.T) {
	const address = "127.0.0.1:1" // a port without a server
	path := writeKubeconfig(t, "http://"+address)
	line := failure(t, "--kubeconfig", path, "--for", "1s")
	assert.Contains(t, line, "the informer is not synced: ")
	assert.Contains(t, line, address+": connect: connection refused")
}

// The program survives an outage of the server, and reports it. It then finds the pods that were deleted in
// the meantime.
func TestOutageIsSurvived(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("shop", "web", "web")))
	require.NoError(t, s.Create(t.Context(), newPod("shop", "doomed", "web")))
	var down atomic.Bool
	url := front(t, s, func(w http.ResponseWriter, _ *http.Request) bool {
		if !down.Load() {
			return false
		}
		http.Error(w, "etcd is gone", http.StatusInternalServerError)
		return true
	})

	p := start(t, "--kubeconfig", writeKubeconfig(t, url), "--output", "json")
	p.prints(t, `"added",.*"name":"web",.*"initial":true`)
	down.Store(true)
	s.CutWatches()
	p.notes(t, stamp+"podwatch: watch pods: .*etcd is gone.*; retrying, and keeping the known pods$")
	require.NoError(t, s.Create(t.Context(), newPod("shop", "late", "web")))
	require.NoError(t, s.Delete(t.Context(), newPod("shop", "doomed", "web")))
	s.Compact()
	down.Store(false)
	p.prints(t, `"added",.*"name":"late",.*"initial":false`)
	p.prints(t, `"deleted",.*"name":"doomed",.*"lost":true`)
	p.notes(t, stamp+"podwatch: reconnected after .*$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Regexp(t, "(?m)^  last error watch pods: .*etcd is gone.*$", p.stderr)
}

// Without --for, podwatch gives up if it cannot reach the server. Before that, it reports why it waits.
func TestGivingUp(t *testing.T) {
	path := writeKubeconfig(t, "http://127.0.0.1:1")
	synctest.Test(t, func(t *testing.T) {
		stdout, stderr := newTranscript(), newTranscript()
		assert.Equal(t, 1, run(t.Context(), []string{"--kubeconfig", path}, stdout, stderr))
		assert.Empty(t, stdout.String())
		assert.Regexp(t, `^\S+ \S+ podwatch: no pods yet: .*connection refused; retrying\n`+
			`podwatch: informer pods: the informer is not synced: gave up after [\d.]+s; last error: .*connection refused\n$`, stderr.String())
	})
}

// The program names a server that does not answer.
func TestNoAnswer(t *testing.T) {
	out := newTranscript()
	w := &watcher{notes: log.New(out, "", 0)}
	w.explain(informer.Status{}, "https://host")
	w.explain(informer.Status{Synced: true}, "https://host")
	w.explain(informer.Status{Progress: informer.Progress{Objects: 500}}, "https://host")
	assert.Equal(t, "no pods yet: https://host does not answer\n", out.String())
}
