package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// start runs a library's informers until the test ends.
func start(t *testing.T, side string, config *rest.Config, kinds ...kind) *measured {
	t.Helper()
	m := &measured{answers: json.NewEncoder(io.Discard)}
	var err error
	m.informers, m.run, err = libraryOf(side).informers(config, "", kinds)
	require.NoError(t, err)
	for _, w := range m.informers {
		require.NoError(t, w.listen())
	}
	var ctx context.Context
	ctx, m.stop = context.WithCancel(t.Context())
	t.Cleanup(m.end)
	for _, r := range m.run {
		r.Start(ctx.Done())
	}
	return m
}

// changing is a transport that changes the answers for one resource.
type changing struct {
	next     http.RoundTripper
	resource string
	change   func(*http.Request, *http.Response)
}

func (c changing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "/"+c.resource) {
		c.change(r, answer)
	}
	return answer, err
}

// body is a body whose first bytes arrive one by one, ten seconds apart. Then it hangs, or continues.
type body struct {
	io.ReadCloser
	ctx    context.Context
	first  int
	silent bool
}

func (b *body) Read(p []byte) (int, error) {
	pause := time.Hour
	switch {
	case b.first > 0:
		b.first--
		pause, p = 10*time.Second, p[:1]
	case !b.silent:
		pause = 0
	}
	select {
	case <-time.After(pause):
		return b.ReadCloser.Read(p)
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

// A sync fails when no byte has arrived for a minute for the kinds that have not synced. Bytes count because
// handlers get the objects of a list only after its last byte. Errors and events of other kinds do not count.
func TestSyncIsGivenUp(t *testing.T) {
	slowly := func(silent bool) func(*http.Request, *http.Response) {
		return func(r *http.Request, answer *http.Response) {
			answer.Body = &body{answer.Body, r.Context(), 9, silent}
		}
	}
	failing := func(_ *http.Request, answer *http.Response) {
		_ = answer.Body.Close()
		answer.StatusCode, answer.Body = http.StatusForbidden, io.NopCloser(strings.NewReader("no"))
	}
	for _, side := range []string{clientGo, tidemark} {
		for _, how := range []reading{typed, metadata, dynamic} {
			t.Run(fmt.Sprint(side, " ", how), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { require.NoError(t, syncSecrets(t, side, how, slowly(false))) })
				synctest.Test(t, func(t *testing.T) {
					require.ErrorContains(t, syncSecrets(t, side, how, slowly(true)), "secrets: no data arrived for a minute")
				})
				synctest.Test(t, func(t *testing.T) {
					require.ErrorContains(t, syncSecrets(t, side, how, failing), "secrets: no data arrived for a minute; the last error: ")
				})
			})
		}
	}
}

// syncSecrets syncs secrets, whose answers are changed, and a config map that is updated each second.
func syncSecrets(t *testing.T, side string, how reading, change func(*http.Request, *http.Response)) error {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.StartInMemory())
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "c"}}
	require.NoError(t, server.Create(t.Context(), configMap))
	require.NoError(t, server.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "s"}}))
	config := server.ClientConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return changing{next, "secrets", change} })
	m := start(t, side, config, kind{"configmaps", corev1.SchemeGroupVersion.WithResource("configmaps"), true, typed},
		kind{"secrets", corev1.SchemeGroupVersion.WithResource("secrets"), true, how})
	ctx, cancel := context.WithCancel(t.Context())
	var updates sync.WaitGroup
	defer updates.Wait()
	defer cancel()
	updates.Go(func() {
		for ctx.Err() == nil {
			configMap.Data = map[string]string{"at": time.Now().String()}
			_ = server.Update(ctx, configMap)
			time.Sleep(time.Second)
		}
	})
	return m.waitSynced(t.Context())
}
