package main

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// freeAddress returns an address that no server listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// get repeats a request until the answer has the status.
func get(t *testing.T, url string, status int) (body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(t, func() bool {
		answer, err := client.Get(url)
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		body = string(text)
		return err == nil && answer.StatusCode == status
	}, 10*time.Second, 10*time.Millisecond, url)
	return body
}

// The manager shows its informers in the readiness probe, to Prometheus, and on the debug page.
func TestTheManagerListsItsInformers(t *testing.T) {
	metrics, health := freeAddress(t), freeAddress(t)
	p := start(t, "--demo", "--metrics-address", metrics, "--health-address", health)
	p.Prints(t, `shop: \d+ of \d+ pods are ready`)

	assert.Equal(t, "ok", get(t, "http://"+health+"/readyz", http.StatusOK))
	recorded := get(t, "http://"+metrics+"/metrics", http.StatusOK)
	assert.Regexp(t, `tidemark_informer_synced\{group="",resource="pods",scope="",version="v1"\} 1\n`, recorded)
	assert.Regexp(t, `tidemark_informer_handler_events_total\{.*resource="pods".*\} [1-9]`, recorded)
	assert.Contains(t, recorded, `handler="Pod 1"`)
	assert.Contains(t, recorded, "controller_runtime_", "controller-runtime's own are there, too")
	page := get(t, "http://"+metrics+"/debug/informers", http.StatusOK)
	assert.Contains(t, page, "pods")
	assert.Contains(t, page, "healthy")
	stops(t, p)
}

// With a budget, the manager's informers store their objects packed.
func TestBudget(t *testing.T) {
	metrics := freeAddress(t)
	p := start(t, "--demo", "--budget", "1", "--metrics-address", metrics)
	p.Prints(t, `shop: \d+ of \d+ pods are ready`)
	recorded := get(t, "http://"+metrics+"/metrics", http.StatusOK)
	assert.Regexp(t, `tidemark_informer_pinned_objects\{group="",resource="pods",scope="",version="v1"\} 0\n`, recorded)
	stops(t, p)
}

// A second run in one process registers its metrics again.
func TestTwoManagersInTurn(t *testing.T) {
	for range 2 {
		p := start(t, "--demo")
		p.Prints(t, `pods are ready`)
		stops(t, p)
	}
}
