package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

var badInput = []struct{ args, want string }{
	{"--demo --selector app==web=x", `invalid value "app==web=x" for flag -selector: found '='`},
	{"--demo --mark web-0", `invalid value "web-0" for flag -mark: it is not written namespace/name; typed -h`},
}

func TestDemo(t *testing.T) {
	p := start(t, "--selector", "app in (web, shop), app != cart") // no kubeconfig, so it is one
	p.notes(t, stamp+`typed: this is a demo, on an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.prints(t, stamp+`there are \d pods: \[shop/cart-0 shop/cart-1 shop/web-0 shop/web-1( shop/web-2)?\]$`)
	p.prints(t, stamp+`node node-0 runs \[shop/cart-0 shop/web-0\]$`)
	p.prints(t, stamp+`selector "app in \(shop,web\),app!=cart" matches \[shop/web-0 shop/web-1( shop/web-2)?\], error: <nil>$`)
	p.prints(t, stamp+`marked shop/web-0, which the store shows: seen by typed$`)
	p.prints(t, stamp+`\+ shop/cart-0 running on node-0$`)
	p.prints(t, stamp+`- shop/web-2 running on node-2$`)
	p.interrupt()
	p.exits(t, 0)
	assert.Regexp(t, `\d pods at version \d+, 0 full lists after the first, 0 errors\n$`, p.stdout.String())
}

func TestTheTimeIsUp(t *testing.T) {
	p := start(t, "--demo", "--for", "2s")
	p.exits(t, 0)
	assert.Contains(t, p.stdout.String(), "pods at version")
}

// On a cluster nothing is written unless a pod is named.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Create(ctx, newPod("web", 0)))
	path := kubeconfig(t, s)
	p := start(t, "--kubeconfig", path)
	p.prints(t, `there are 1 pods: \[shop/web-0\]$`)
	p.prints(t, `selector "" matches \[shop/web-0\]`)
	moved := newPod("web", 0)
	moved.Status.Phase = corev1.PodFailed
	require.NoError(t, s.Update(ctx, moved))
	p.prints(t, "~ shop/web-0 failed on node-0, was shop/web-0 running on node-0$")
	moved.Labels["quietly"] = "changed"
	require.NoError(t, s.Update(ctx, moved))
	require.NoError(t, s.Delete(ctx, moved))
	p.prints(t, "- shop/web-0 failed on node-0$")
	p.interrupt()
	p.exits(t, 0)
	assert.Zero(t, s.Requests().Patch)
	assert.NotContains(t, p.stdout.String(), "was shop/web-0 failed", "a label is not shown")

	p = start(t, "--kubeconfig", path, "--mark", "shop/absent")
	p.exits(t, 1)
	assert.Equal(t, "typed: pod shop/absent is not marked: pods \"absent\" not found\n", p.stderr.String())
}
