package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/shard"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the errors that tests cause on purpose
	ctrl.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// transcript is the output of the program.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.text.String()
}

// program is a running program.
type program struct {
	stdout, stderr *transcript
	interrupt      context.CancelFunc
	exit           chan int // receives the exit code
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{stdout: new(transcript), stderr: new(transcript), interrupt: cancel, exit: make(chan int, 1)}
	go func() { p.exit <- run(ctx, args, p.stdout, p.stderr) }()
	t.Cleanup(cancel)
	return p
}

// prints waits until stdout matches the pattern.
func (p *program) prints(t *testing.T, pattern string) {
	t.Helper()
	fits := regexp.MustCompile(pattern)
	for poll := time.Tick(time.Millisecond); !fits.MatchString(p.stdout.String()); <-poll {
		select {
		case code := <-p.exit:
			require.Fail(t, "the program has ended", "with %d and without %s in\n%s%s", code, pattern, p.stdout, p.stderr)
		default:
		}
	}
}

// stops interrupts the program and requires that it ends without an error.
func (p *program) stops(t *testing.T) {
	t.Helper()
	p.interrupt()
	assert.Zero(t, <-p.exit, p.stderr)
	assert.Regexp(t, `\nran for [0-9.]+m?s\n$`, p.stdout)
	assert.Regexp(t, `\A(.* controllerruntime: .*this is a demo, on an API server in this process, http://127\.0\.0\.1:\d+\n)?\z`, p.stderr)
}

// TestDemo waits for the output of the demo cluster.
func TestDemo(t *testing.T) {
	p := start(t, "--demo")
	p.prints(t, `(?m)^[0-9/]+ [0-9:]+ billing: 2 of 3 pods are ready$`)
	p.prints(t, `(?s)shop: 4 of 5 pods are ready.*shop: 4 of 4 pods are ready`)
	p.prints(t, `shop/web reads \[tls at [0-9]+\] and owns \[web-1\]\n`)
	p.prints(t, `shop/cart reads \[\] and owns \[\]\n`)
	p.stops(t)
}

func TestTimeIsUp(t *testing.T) {
	p := start(t, "--demo", "--for", "1ms")
	assert.Zero(t, <-p.exit, p.stderr)
	assert.Regexp(t, `\nran for [0-9.]+m?s\n$`, p.stdout)
}

func TestInterruptBeforeTheSync(t *testing.T) {
	p := start(t, "--demo")
	p.stops(t)
}

// TestCluster runs the program with a kubeconfig, as on a cluster.
func TestCluster(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.Start())
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, server.ClientConfig().Host))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "one"}}
	require.NoError(t, server.Create(t.Context(), pod))

	p := start(t)
	p.prints(t, `a: 0 of 1 pods are ready\n`)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	require.NoError(t, server.Update(t.Context(), pod))
	p.prints(t, `a: 1 of 1 pods are ready\n`)
	require.NoError(t, server.Delete(t.Context(), pod))
	p.prints(t, `a: 0 of 0 pods are ready\n`)

	// A Secret that changes brings the Deployments that read it, and no others.
	require.NoError(t, populate(t.Context(), server))
	p.prints(t, `shop/web reads \[tls at [0-9]+\]`)
	p.prints(t, `shop/cart reads`)
	secret := &corev1.Secret{}
	require.NoError(t, server.Get(t.Context(), "shop", "tls", secret))
	secret.Data = map[string][]byte{"key": []byte("v2")}
	require.NoError(t, server.Update(t.Context(), secret))
	require.NoError(t, server.Get(t.Context(), "shop", "tls", secret))
	p.prints(t, `shop/web reads \[tls at `+secret.ResourceVersion+`\] and owns \[web-1\]\n`)
	assert.Equal(t, 1, strings.Count(p.stdout.String(), "shop/cart"))
	p.stops(t)
	assert.Empty(t, p.stderr.String())
}

// Two processes share the namespaces: each namespace is one's, with its pods and Deployments, and all are read.
func TestShard(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.Start())
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, server.ClientConfig().Host))
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
				p.prints(t, namespace+": 0 of 1 pods are ready\n")
				p.prints(t, namespace+`/web reads \[\] and owns \[\]`)
				own++
			}
		}
		p.stops(t)
		assert.NotZero(t, own)
		assert.Equal(t, own, strings.Count(p.stdout.String(), "pods are ready"))
		assert.Equal(t, own, strings.Count(p.stdout.String(), "reads"))
	}
}

func TestMistakes(t *testing.T) {
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		exit int
		says string
	}{
		"unknown flag": {[]string{"--what"}, 1, "not defined: -what"},
		"no budget":    {[]string{"--budget", "-1"}, 1, "invalid value"},
		"no share":     {[]string{"--shard", "3/3"}, 1, "invalid value \"3/3\" for flag -shard: the shares of N replicas"},
		"no duration":  {[]string{"--for", "ever"}, 1, "invalid value"},
		"no cluster":   {nil, 1, "the kubeconfig .* does not exist: .*; try --demo"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, c.args...)
			assert.Equal(t, c.exit, <-p.exit)
			assert.Regexp(t, c.says, p.stderr)
			assert.Empty(t, p.stdout.String())
		})
	}
	t.Run("help", func(t *testing.T) {
		p := start(t, "-h")
		assert.Equal(t, 0, <-p.exit)
		assert.Contains(t, p.stdout.String(), "-demo")
		assert.Empty(t, p.stderr.String())
	})
}

// kubeconfig writes a kubeconfig and returns its path.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}
