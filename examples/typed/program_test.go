package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// This file is the same in several examples: the program as a test sees it.

// The tests see no kubeconfig of whoever runs them.
func TestMain(m *testing.M) {
	_ = os.Unsetenv(clientcmd.RecommendedConfigPathEnvVar)
	clientcmd.RecommendedHomeFile = filepath.Join(os.TempDir(), "tidemark-example-has-no-kubeconfig")
	goleak.VerifyTestMain(m)
}

// transcript is what a program writes, to be waited for.
type transcript struct {
	mu      sync.Mutex // guards the rest
	text    bytes.Buffer
	changed chan struct{} // closed, and another one made, by Write
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	defer func() {
		close(t.changed)
		t.changed = make(chan struct{})
	}()
	return t.text.Write(p)
}

// read returns what was written, and a channel that is closed by the next Write.
func (t *transcript) read() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.text.String(), t.changed
}

func (t *transcript) String() string {
	text, _ := t.read()
	return text
}

// program is the example as it runs in a test.
type program struct {
	stdout, stderr *transcript
	interrupt      context.CancelFunc
	ended          chan struct{}
	code           int // once ended is closed
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{
		stdout: &transcript{changed: make(chan struct{})}, stderr: &transcript{changed: make(chan struct{})},
		interrupt: cancel, ended: make(chan struct{}),
	}
	go func() {
		defer close(p.ended)
		p.code = run(ctx, args, p.stdout, p.stderr)
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

// prints returns once the program has printed a line that fits the pattern.
func (p *program) prints(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stdout, pattern) }

// notes is prints for stderr.
func (p *program) notes(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stderr, pattern) }

func (p *program) await(t *testing.T, out *transcript, pattern string) {
	t.Helper()
	fits := regexp.MustCompile("(?m)" + pattern)
	for {
		text, changed := out.read()
		if fits.MatchString(text) {
			return
		}
		select {
		case <-changed:
		case <-p.ended:
			require.Regexp(t, fits, out.String(), "the program has ended")
			return
		}
	}
}

// exits waits for the program's end.
func (p *program) exits(t *testing.T, code int) {
	t.Helper()
	<-p.ended
	assert.Equal(t, code, p.code, "%s%s", p.stdout, p.stderr)
}

// kubeconfig starts the server, and returns the path of a kubeconfig of it.
func kubeconfig(t *testing.T, s *informertest.Server) string {
	t.Helper()
	t.Cleanup(s.Close)
	require.NoError(t, s.Start())
	return writeKubeconfig(t, s.ClientConfig().Host)
}

func writeKubeconfig(t *testing.T, server string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}

const stamp = `^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `

// Bad input is answered with one line.
func TestBadInput(t *testing.T) {
	folder := t.TempDir()
	absent, broken := filepath.Join(folder, "absent"), filepath.Join(folder, "broken")
	require.NoError(t, os.WriteFile(broken, []byte("{ this is: [no kubeconfig"), 0o600))
	rows := []struct{ args, want string }{
		{"--for -3s", `invalid value "-3s" for flag -for: it is negative; \w+ -h lists the flags`},
		{"--for 10", `invalid value "10" for flag -for: time: missing unit .*-h lists the flags`},
		{"--frob", `flag provided but not defined: -frob; \w+ -h lists the flags`},
		{"--demo pods", `unexpected argument "pods"; \w+ -h lists the flags`},
		{"--demo --kubeconfig x", `--demo and --kubeconfig exclude each other; \w+ -h lists the flags`},
		{"--kubeconfig " + absent, "the kubeconfig " + absent + " does not exist: check --kubeconfig"},
		{"--kubeconfig " + broken, "the kubeconfig " + broken + " cannot be used: "},
	}
	for _, row := range append(rows, badInput...) {
		t.Run(row.args, func(t *testing.T) {
			good := writeKubeconfig(t, "http://127.0.0.1:1") // of which nothing is asked
			p := start(t, strings.Fields(strings.Replace(row.args, "KUBECONFIG", good, 1))...)
			p.exits(t, 1)
			assert.Regexp(t, `^[a-z]+: `+row.want+`.*\n$`, p.stderr.String())
			assert.Empty(t, p.stdout.String())
		})
	}
	t.Run("environment", func(t *testing.T) {
		t.Setenv(clientcmd.RecommendedConfigPathEnvVar, absent)
		p := start(t)
		p.exits(t, 1)
		assert.Contains(t, p.stderr.String(), absent+" does not exist")
	})
}

func TestUsage(t *testing.T) {
	p := start(t, "-h")
	p.exits(t, 0)
	for _, name := range []string{"-demo", "-for duration", "-kubeconfig file"} {
		assert.Contains(t, p.stdout.String(), "  "+name+"\n")
	}
	assert.Empty(t, p.stderr.String())
}

// A server that is not there is told when the time is up.
func TestServerThatIsDead(t *testing.T) {
	p := start(t, "--kubeconfig", writeKubeconfig(t, "http://127.0.0.1:1"), "--for", "1s")
	p.exits(t, 1)
	assert.Regexp(t, `^[a-z]+: .*the informer is not synced: .*connection refused.*\n$`, p.stderr.String())
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Zero(t, run(ctx, []string{"--demo"}, &bytes.Buffer{}, &bytes.Buffer{}))
}
