package informer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// divided is a server with pods that informers share.
type divided struct {
	t      *testing.T
	server *informertest.Server

	mu        sync.Mutex
	selectors []string                  // of all lists, streams and watches, in their order
	pages     []string                  // of the pages of lists
	refuse    func(selector string) int // the status of the answer, 0 for the server's own
}

// inDivided runs a test with 30 pods of 5 namespaces, in virtual time, on a server that filters or not.
func inDivided(t *testing.T, filters bool, test func(*testing.T, *divided)) {
	t.Helper()
	inDividedOf(t, informertest.Options{ShardedListAndWatch: filters}, test)
}

func inDividedOf(t *testing.T, o informertest.Options, test func(*testing.T, *divided)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &divided{t: t, server: informertest.New(o)}
		require.NoError(t, d.server.StartInMemory())
		t.Cleanup(d.server.Close)
		for n := range 30 {
			require.NoError(t, d.server.Create(t.Context(), podIn(fmt.Sprint("team-", n%5), fmt.Sprint("web-", n))))
		}
		test(t, d)
	})
}

// onBoth runs a test on a server that filters, and on one that does not.
func onBoth(t *testing.T, test func(t *testing.T, d *divided, filters bool)) {
	for _, filters := range []bool{true, false} {
		t.Run(fmt.Sprint("the server filters: ", filters), func(t *testing.T) {
			inDivided(t, filters, func(t *testing.T, d *divided) { test(t, d, filters) })
		})
	}
}

func (d *divided) config() *rest.Config {
	config := d.server.ClientConfig()
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/pods") {
				return next.RoundTrip(r)
			}
			query := r.URL.Query()
			selector := query.Get("shardSelector")
			d.mu.Lock()
			d.selectors = append(d.selectors, selector)
			if query.Get("limit") == "5" {
				d.pages = append(d.pages, selector)
			}
			refuse := d.refuse
			d.mu.Unlock()
			if refuse != nil {
				if status := refuse(selector); status != 0 {
					return &http.Response{
						StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
						Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("no")), Request: r,
					}, nil
				}
			}
			return next.RoundTrip(r)
		})
	})
	return config
}

// asked returns the selectors of the requests so far, and forgets them.
func (d *divided) asked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()

	asked := d.selectors
	d.selectors = nil
	return asked
}

func (d *divided) source() reflector.Source { return podsOf(d.config()) }

func podsOf(config *rest.Config) reflector.Source {
	return reflector.FromGenerated[*corev1.Pod](kubernetes.NewForConfigOrDie(config).CoreV1().Pods(""), pods)
}

// live returns the server's pods.
func (d *divided) live() []corev1.Pod {
	d.t.Helper()
	list, err := kubernetes.NewForConfigOrDie(d.server.ClientConfig()).CoreV1().Pods("").List(d.t.Context(), metav1.ListOptions{})
	require.NoError(d.t, err)
	return list.Items
}

// holds requires that an informer holds the pods of a share, and no others.
func (d *divided) holds(i *informer.Informer[*corev1.Pod], share shard.Set) {
	d.t.Helper()
	var want []string
	for _, pod := range d.live() {
		if share.Has(pod.Namespace, pod.UID) {
			want = append(want, pod.Namespace+"/"+pod.Name+" "+pod.ResourceVersion)
		}
	}
	var got []string
	for pod := range i.Indexer().All() {
		got = append(got, pod.Namespace+"/"+pod.Name+" "+pod.ResourceVersion)
	}
	require.ElementsMatch(d.t, want, got)
}

// run starts an informer until the end of the returned function.
func (d *divided) run(i *informer.Informer[*corev1.Pod]) (stop func()) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	wait, err := i.Start(ctx)
	require.NoError(d.t, err)
	return func() { cancel(); require.NoError(d.t, wait()) }
}

func nthOf(t *testing.T, by shard.Field, index, total int) shard.Set {
	t.Helper()
	share, err := shard.Nth(by, index, total)
	require.NoError(t, err)
	return share
}
