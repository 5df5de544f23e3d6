package programs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var namespaces = built("namespaces")

func TestNamespaces_Program(t *testing.T) {
	namespaces.Test(t, badInputOfNamespaces...)
}

var badInputOfNamespaces = []program.BadInput{
	{Args: "--kubeconfig KUBECONFIG --namespaces shop,billing,shop", Want: `\*v1.Pod: the scope is not valid: namespace "shop" is empty or given twice`},
	{Args: "--kubeconfig KUBECONFIG --namespaces shop,", Want: `\*v1.Pod: the scope is not valid: namespace "" is empty or given twice`},
	{Args: "--demo --labels app==web=x", Want: `invalid value "app==web=x" for flag -labels: found '='`},
}

func TestNamespaces_Demo(t *testing.T) {
	t.Parallel()
	p := namespaces.Start(t) // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`namespaces: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.Prints(t, program.Stamp+`namespaces \["shop" "billing"\] have \d pods$`)
	p.Prints(t, program.Stamp+`watch begins: /api/v1/namespaces/lab/pods$`)
	p.Prints(t, program.Stamp+`\+ lab/seen$`)
	p.Prints(t, program.Stamp+`- lab/seen$`)
	p.Prints(t, program.Stamp+`watch ends: /api/v1/namespaces/lab/pods$`)
	p.Prints(t, program.Stamp+`- shop/cart$`)
	p.Prints(t, `(?s)watch begins: /api/v1/namespaces/lab/pods$.*watch ends.*watch begins: /api/v1/namespaces/lab/pods$`)
	p.Interrupt()
	p.Exits(t, 0)
	assert.NotContains(t, p.Stdout.String(), "unseen")
	assert.Equal(t, strings.Count(p.Stdout.String(), "watch begins"), strings.Count(p.Stdout.String(), "watch ends"))
}

func TestNamespaces_Cluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Create(ctx, newNamespace("late", false)))
	for _, name := range []string{"a", "b", "c", "late"} {
		require.NoError(t, s.Create(ctx, newPod(name, "web")))
		require.NoError(t, s.Create(ctx, newPod(name, "db")))
	}
	p := namespaces.Start(t, "--kubeconfig", program.Kubeconfig(t, s), "--namespaces", "a,b", "--labels", "app=web")
	p.Prints(t, `namespaces \["a" "b"\] have 2 pods$`)
	p.Prints(t, `watch begins: /api/v1/namespaces/a/pods of app=web$`)
	p.Prints(t, `watch begins: /api/v1/namespaces/b/pods of app=web$`)
	p.Prints(t, `watch begins: /api/v1/namespaces of example.com/watched$`)
	assert.Equal(t, 3, s.Watches())

	require.NoError(t, s.Update(ctx, newNamespace("late", true)))
	p.Prints(t, `watch begins: /api/v1/namespaces/late/pods of app=web$`)
	p.Prints(t, `\+ late/web$`)
	require.NoError(t, s.Delete(ctx, newPod("late", "web")))
	p.Prints(t, `- late/web$`)
	require.NoError(t, s.Update(ctx, newNamespace("late", false)))
	p.Prints(t, `watch ends: /api/v1/namespaces/late/pods of app=web$`)

	// If a namespace gets the label again, its existing pods are delivered again.
	require.NoError(t, s.Create(ctx, newPod("late", "web")))
	require.NoError(t, s.Update(ctx, newNamespace("late", true)))
	p.Prints(t, `(?s)- late/web$.*\+ late/web$`)
	require.NoError(t, s.Delete(ctx, newNamespace("late", true)))
	p.Prints(t, `(?s)watch ends: .*watch ends: /api/v1/namespaces/late/pods of app=web$`)
	p.Interrupt()
	p.Exits(t, 0)
	out := p.Stdout.String()
	assert.Equal(t, 2, strings.Count(out, "+ late/web\n"))
	assert.Contains(t, out, "+ a/web\n")
	assert.NotContains(t, out, "/db")
	assert.NotContains(t, out, "c/")
	assert.Equal(t, strings.Count(out, "watch begins"), strings.Count(out, "watch ends"))
	assert.Empty(t, p.Stderr.String())
}
