package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

var badInput = []struct{ args, want string }{
	{"--kubeconfig KUBECONFIG --namespaces shop,billing,shop", `\*v1.Pod: the scope is not valid: namespace "shop" is empty or given twice`},
	{"--kubeconfig KUBECONFIG --namespaces shop,", `\*v1.Pod: the scope is not valid: namespace "" is empty or given twice`},
	{"--demo --labels app==web=x", `invalid value "app==web=x" for flag -labels: found '='`},
}

func TestDemo(t *testing.T) {
	p := start(t) // no kubeconfig, so it is one
	p.notes(t, stamp+`namespaces: this is a demo, on an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.prints(t, stamp+`of \["shop" "billing"\] there are \d pods$`)
	p.prints(t, stamp+`watch begins: /api/v1/namespaces/lab/pods$`)
	p.prints(t, stamp+`\+ lab/seen$`)
	p.prints(t, stamp+`- lab/seen$`)
	p.prints(t, stamp+`watch ends: /api/v1/namespaces/lab/pods$`)
	p.prints(t, stamp+`- shop/cart$`)
	p.prints(t, `(?s)watch begins: /api/v1/namespaces/lab/pods$.*watch ends.*watch begins: /api/v1/namespaces/lab/pods$`)
	p.interrupt()
	p.exits(t, 0)
	assert.NotContains(t, p.stdout.String(), "unseen")
	assert.Equal(t, strings.Count(p.stdout.String(), "watch begins"), strings.Count(p.stdout.String(), "watch ends"))
}

func TestCluster(t *testing.T) {
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Create(ctx, newNamespace("late", false)))
	for _, name := range []string{"a", "b", "c", "late"} {
		require.NoError(t, s.Create(ctx, newPod(name, "web")))
		require.NoError(t, s.Create(ctx, newPod(name, "db")))
	}
	p := start(t, "--kubeconfig", kubeconfig(t, s), "--namespaces", "a,b", "--labels", "app=web")
	p.prints(t, `of \["a" "b"\] there are 2 pods$`)
	p.prints(t, `watch begins: /api/v1/namespaces/a/pods of app=web$`)
	p.prints(t, `watch begins: /api/v1/namespaces/b/pods of app=web$`)
	p.prints(t, `watch begins: /api/v1/namespaces of example.com/watched$`)
	assert.Equal(t, 3, s.Watches())

	require.NoError(t, s.Update(ctx, newNamespace("late", true)))
	p.prints(t, `watch begins: /api/v1/namespaces/late/pods of app=web$`)
	p.prints(t, `\+ late/web$`)
	require.NoError(t, s.Delete(ctx, newPod("late", "web")))
	p.prints(t, `- late/web$`)
	require.NoError(t, s.Update(ctx, newNamespace("late", false)))
	p.prints(t, `watch ends: /api/v1/namespaces/late/pods of app=web$`)

	// Acquired again, it is told of what there is, once.
	require.NoError(t, s.Create(ctx, newPod("late", "web")))
	require.NoError(t, s.Update(ctx, newNamespace("late", true)))
	p.prints(t, `(?s)- late/web$.*\+ late/web$`)
	require.NoError(t, s.Delete(ctx, newNamespace("late", true)))
	p.prints(t, `(?s)watch ends: .*watch ends: /api/v1/namespaces/late/pods of app=web$`)
	p.interrupt()
	p.exits(t, 0)
	out := p.stdout.String()
	assert.Equal(t, 2, strings.Count(out, "+ late/web\n"))
	assert.Contains(t, out, "+ a/web\n")
	assert.NotContains(t, out, "/db")
	assert.NotContains(t, out, "c/")
	assert.Equal(t, strings.Count(out, "watch begins"), strings.Count(out, "watch ends"))
	assert.Empty(t, p.stderr.String())
}
