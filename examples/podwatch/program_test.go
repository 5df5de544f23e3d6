package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// The tests ignore the developer's kubeconfig.
func TestMain(m *testing.M) {
	_ = os.Unsetenv(clientcmd.RecommendedConfigPathEnvVar)
	_ = os.Unsetenv("KUBERNETES_SERVICE_HOST")
	clientcmd.RecommendedHomeFile = filepath.Join(os.TempDir(), "podwatch-test-has-no-kubeconfig")
	goleak.VerifyTestMain(m)
}

// transcript is the output of a program. Tests can wait for changes.
type transcript struct {
	mu      sync.Mutex // guards the rest
	text    bytes.Buffer
	changed chan struct{} // closed and replaced by Write
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	defer func() {
		close(t.changed)
		t.changed = make(chan struct{})
	}()
	return t.text.Write(p)
}

// next returns a channel that is closed by the next Write.
func (t *transcript) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.changed
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.text.String()
}

// terminal is a transcript that looks like a terminal.
type terminal struct{ *transcript }

func (terminal) Stat() (fs.FileInfo, error) { return os.Stat(os.DevNull) }

// program is a running podwatch.
type program struct {
	stdout, stderr *transcript
	interrupt      context.CancelFunc
	exit           chan int // receives the exit code
	ended          chan struct{}
}

func start(t *testing.T, args ...string) program {
	t.Helper()
	return startOn(t, nil, args...)
}

// startOn starts the program. Its stderr is the terminal, unless that is nil.
func startOn(t *testing.T, screen *terminal, args ...string) program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := program{stdout: newTranscript(), stderr: newTranscript(), interrupt: cancel, exit: make(chan int, 1), ended: make(chan struct{})}
	var stderr io.Writer = p.stderr
	if screen != nil {
		stderr, p.stderr = screen, screen.transcript
	}
	go func() {
		p.exit <- run(ctx, args, p.stdout, stderr)
		close(p.ended)
	}()
	return p
}

// prints waits until the program has printed a line that matches the pattern.
func (p program) prints(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stdout, pattern) }

// notes is prints for stderr.
func (p program) notes(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stderr, pattern) }

// becomes changes a pod, and waits until the program has printed a matching line.
func (p program) becomes(t *testing.T, s *informertest.Server, pod *corev1.Pod, change func(*corev1.Pod), pattern string) {
	t.Helper()
	change(pod)
	pod.ResourceVersion = ""
	require.NoError(t, s.Update(t.Context(), pod))
	p.prints(t, pattern)
}

func (p program) await(t *testing.T, out *transcript, pattern string) {
	t.Helper()
	fits := regexp.MustCompile("(?m)" + pattern)
	for {
		changed := out.next()
		if fits.MatchString(out.String()) {
			return
		}
		select {
		case <-changed:
		case <-p.ended:
			require.Fail(t, "the program has ended", "without %s in\n%s%s", pattern, p.stdout, p.stderr)
		}
	}
}

// failure runs the program to its end, and returns the line that it prints to stderr.
func failure(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	assert.Equal(t, 1, <-p.exit)
	p.interrupt()
	assert.Empty(t, p.stdout.String())
	line, rest, _ := strings.Cut(p.stderr.String(), "\n")
	assert.Empty(t, rest, "more than a line")
	assert.Regexp(t, "^podwatch: ", line)
	return line
}

// writeKubeconfig writes a kubeconfig and returns its path.
func writeKubeconfig(t *testing.T, server string) string {
	t.Helper()
	return writeContexts(t, "x", map[string]string{"x": server})
}

// writeContexts writes a kubeconfig with the servers of several contexts.
func writeContexts(t *testing.T, current string, servers map[string]string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "secret"}
	for name, server := range servers {
		c.Clusters[name] = &clientcmdapi.Cluster{Server: server}
		c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: "u"}
	}
	c.CurrentContext = current
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}

// startServer returns an API server that closes with the test.
func startServer(t *testing.T) *informertest.Server {
	t.Helper()
	return startServerWith(t, informertest.Options{})
}

func startServerWith(t *testing.T, o informertest.Options) *informertest.Server {
	t.Helper()
	s := informertest.New(o)
	t.Cleanup(s.Close)
	require.NoError(t, s.Start())
	return s
}

func newPod(namespace, name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}}}
}

// front is a proxy that can answer in place of its server.
func front(t *testing.T, s *informertest.Server, answers func(http.ResponseWriter, *http.Request) bool) (url string) {
	t.Helper()
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			s.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f.URL
}

const stamp = `^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `

// The debug page is served as long as the program runs.
func TestDebugAddress(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("shop", "web", "web")))
	p := start(t, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host), "--debug-address", ":0")
	p.prints(t, "New Pod Added to Store: web")
	p.notes(t, "/debug/informers shows the informers$")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/debug/informers`).FindString(p.stderr.String())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	require.NoError(t, err)
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Contains(t, string(page), "<h1>Informers</h1>")
	require.Contains(t, string(page), ">pods</a>")

	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/debug/informers")
	require.Contains(t, failure(t, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host), "--debug-address", taken), "--debug-address: listen tcp "+taken)
	p.interrupt()
	require.Equal(t, 0, <-p.exit)
	_, err = client.Get(url) //nolint:bodyclose // there is no body
	require.Error(t, err)
}

func TestDebugAddressIsOne(t *testing.T) {
	require.Contains(t, failure(t, "--demo", "--debug-address", "6060"), `invalid value "6060" for flag -debug-address`)
}
