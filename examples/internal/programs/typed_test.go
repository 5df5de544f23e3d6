package programs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var typed = built("typed")

func TestTyped_Program(t *testing.T) {
	typed.Test(t, badInputOfTyped...)
}

var badInputOfTyped = []program.BadInput{
	{Args: "--demo --selector app==web=x", Want: `invalid value "app==web=x" for flag -selector: found '='`},
	{Args: "--demo --mark web-0", Want: `invalid value "web-0" for flag -mark: must be namespace/name; typed -h`},
}

func TestTyped_Demo(t *testing.T) {
	t.Parallel()
	p := typed.Start(t, "--selector", "app in (web, shop), app != cart") // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`typed: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+$`)
	p.Prints(t, program.Stamp+`there are \d pods: \[shop/cart-0 shop/cart-1 shop/web-0 shop/web-1( shop/web-2)?\]$`)
	p.Prints(t, program.Stamp+`node node-0 runs \[shop/cart-0 shop/web-0\]$`)
	p.Prints(t, program.Stamp+`selector "app in \(shop,web\),app!=cart" matches \[shop/web-0 shop/web-1( shop/web-2)?\], error: <nil>$`)
	p.Prints(t, program.Stamp+`with app in \(shop,web\),app!=cart and node=node-0 finds \[shop/web-0\], error: <nil>$`)
	p.Prints(t, program.Stamp+`cart owns \[shop/cart-0 shop/cart-1\]$`)
	p.Prints(t, program.Stamp+`web owns \[shop/web-0 shop/web-1( shop/web-2)?\]$`)
	p.Prints(t, program.Stamp+`marked shop/web-0, which the store shows: seen by typed$`)
	p.Prints(t, program.Stamp+`\+ shop/cart-0 running on node-0$`)
	p.Prints(t, program.Stamp+`- shop/web-2 running on node-2$`)
	p.Interrupt()
	p.Exits(t, 0)
	assert.Regexp(t, `\d pods at version \d+, 0 relists, 0 errors\n$`, p.Stdout.String())
}

func TestTyped_TheTimeIsUp(t *testing.T) {
	t.Parallel()
	p := typed.Start(t, "--demo", "--for", "2s")
	p.Exits(t, 0)
	assert.Contains(t, p.Stdout.String(), "pods at version")
}

// web returns a pod like those of the demo cluster.
func web() *corev1.Pod {
	pod := newPod("shop", "web")
	pod.Name, pod.Spec.NodeName, pod.Status.Phase = "web-0", "node-0", corev1.PodRunning
	return pod
}

// Without --mark, the program writes nothing to a cluster.
func TestTyped_Cluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := informertest.New(informertest.Options{})
	require.NoError(t, s.Create(ctx, web()))
	path := program.Kubeconfig(t, s)
	p := typed.Start(t, "--kubeconfig", path)
	p.Prints(t, `there are 1 pods: \[shop/web-0\]$`)
	p.Prints(t, `selector "" matches \[shop/web-0\]`)
	moved := web()
	moved.Status.Phase = corev1.PodFailed
	require.NoError(t, s.Update(ctx, moved))
	p.Prints(t, "~ shop/web-0 failed on node-0, was shop/web-0 running on node-0$")
	moved.Labels["quietly"] = "changed"
	require.NoError(t, s.Update(ctx, moved))
	require.NoError(t, s.Delete(ctx, moved))
	p.Prints(t, "- shop/web-0 failed on node-0$")
	p.Interrupt()
	p.Exits(t, 0)
	assert.Zero(t, s.Counts()["patch"])
	assert.NotContains(t, p.Stdout.String(), "was shop/web-0 failed", "a label is not shown")

	p = typed.Start(t, "--kubeconfig", path, "--mark", "shop/absent")
	p.Exits(t, 1)
	assert.Equal(t, "typed: pod shop/absent cannot be annotated: pods \"absent\" not found\n", p.Stderr.String())
}
