package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
	"github.com/tidemark-k8s/tidemark/shard"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards errors that the tests cause on purpose
	ctrl.SetLogger(klog.Logger{})
	program.Main(m)
}

func start(t *testing.T, args ...string) *program.Program {
	t.Helper()
	return program.Run(run).Start(t, args...)
}

// stops interrupts the program, which must end without an error.
func stops(t *testing.T, p *program.Program) {
	t.Helper()
	p.Interrupt()
	p.Exits(t, 0)
	assert.Regexp(t, `\nran for [0-9.]+m?s\n$`, p.Stdout)
	assert.Regexp(t, `\A(.* controllerruntime: .*this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+\n)?\z`, p.Stderr)
}

// TestDemo waits for the output of the demo cluster.
func TestDemo(t *testing.T) {
	p := start(t, "--demo")
	p.Prints(t, `(?m)^[0-9/]+ [0-9:]+ billing: 2 of 3 pods are ready$`)
	p.Prints(t, `(?s)shop: 4 of 5 pods are ready.*shop: 4 of 4 pods are ready`)
	p.Prints(t, `shop/web reads \[tls at [0-9]+\] and owns \[web-1\]\n`)
	p.Prints(t, `shop/cart reads \[\] and owns \[\]\n`)
	stops(t, p)
}

func TestTimeIsUp(t *testing.T) {
	p := start(t, "--demo", "--for", "1ms")
	p.Exits(t, 0)
	assert.Regexp(t, `\nran for [0-9.]+m?s\n$`, p.Stdout)
}

func TestInterruptBeforeTheSync(t *testing.T) {
	p := start(t, "--demo")
	stops(t, p)
}

// TestCluster runs the program with a kubeconfig, as for a cluster.
func TestCluster(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, program.Kubeconfig(t, server))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "one"}}
	require.NoError(t, server.Create(t.Context(), pod))

	p := start(t)
	p.Prints(t, `a: 0 of 1 pods are ready\n`)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	require.NoError(t, server.Update(t.Context(), pod))
	p.Prints(t, `a: 1 of 1 pods are ready\n`)
	require.NoError(t, server.Delete(t.Context(), pod))
	p.Prints(t, `a: 0 of 0 pods are ready\n`)

	// The objects that a Deployment owns may arrive after those that it reads.
	late := server.Stall(informertest.Request{Verb: "watch", Resource: "replicasets"})
	require.NoError(t, populate(t.Context(), server))
	p.Prints(t, `shop/web reads \[tls at [0-9]+\] and owns \[\]`)
	p.Prints(t, `shop/cart reads`)
	late()
	p.Prints(t, `shop/web reads \[tls at [0-9]+\] and owns \[web-1\]`)

	// A changed Secret wakes only the Deployments that read it.
	secret := &corev1.Secret{}
	require.NoError(t, server.Get(t.Context(), "shop", "tls", secret))
	secret.Data = map[string][]byte{"key": []byte("v2")}
	require.NoError(t, server.Update(t.Context(), secret))
	require.NoError(t, server.Get(t.Context(), "shop", "tls", secret))
	p.Prints(t, `shop/web reads \[tls at `+secret.ResourceVersion+`\] and owns \[web-1\]\n`)
	assert.Equal(t, 1, strings.Count(p.Stdout.String(), "shop/cart"))
	stops(t, p)
	assert.Empty(t, p.Stderr.String())
}

// Two processes divide the namespaces. Each namespace, with its pods and Deployments, belongs to one of them.
func TestShard(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, program.Kubeconfig(t, server))
	namespaces := strings.Fields("shop billing lab search accounts payments web data jobs mail")
	for _, namespace := range namespaces {
		require.NoError(t, server.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}))
		require.NoError(t, server.Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}))
	}
	for i := range 2 {
		nth := fmt.Sprintf("%d/2", i)
		index, total, err := shard.ParseNth(nth)
		require.NoError(t, err)
		share, err := shard.Nth(shard.ByNamespace, index, total)
		require.NoError(t, err)
		p := start(t, "--shard", nth)
		own := 0
		for _, namespace := range namespaces {
			if share.Has(namespace, "") {
				p.Prints(t, namespace+": 0 of 1 pods are ready\n")
				p.Prints(t, namespace+`/web reads \[\] and owns \[\]`)
				own++
			}
		}
		stops(t, p)
		assert.NotZero(t, own)
		assert.Equal(t, own, strings.Count(p.Stdout.String(), "pods are ready"))
		assert.Equal(t, own, strings.Count(p.Stdout.String(), "reads"))
	}
}

func TestMistakes(t *testing.T) {
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, filepath.Join(t.TempDir(), "none"))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"unknown flag": {[]string{"--what"}, "not defined: -what"},
		"no budget":    {[]string{"--budget", "-1"}, "invalid value"},
		"no share":     {[]string{"--shard", "3/3"}, "invalid value \"3/3\" for flag -shard: the shares of N replicas"},
		"no duration":  {[]string{"--for", "ever"}, "invalid value"},
		"no cluster":   {nil, "the kubeconfig .* does not exist: .*, or use --demo"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, c.args...)
			p.Exits(t, 1)
			assert.Regexp(t, c.says, p.Stderr)
			assert.Empty(t, p.Stdout.String())
		})
	}
	t.Run("help", func(t *testing.T) {
		p := start(t, "-h")
		p.Exits(t, 0)
		assert.Contains(t, p.Stdout.String(), "-demo")
		assert.Empty(t, p.Stderr.String())
	})
}
