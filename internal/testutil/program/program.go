package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// Main is the TestMain of an example. It hides the kubeconfig of the user who runs the tests, and the
// cluster that the tests run in. It passes the options to goleak.
func Main(m *testing.M, options ...goleak.Option) {
	_ = os.Unsetenv(clientcmd.RecommendedConfigPathEnvVar)
	_ = os.Unsetenv("KUBERNETES_SERVICE_HOST")
	clientcmd.RecommendedHomeFile = filepath.Join(os.TempDir(), "tidemark-example-has-no-kubeconfig")
	goleak.VerifyTestMain(m, options...)
}

// transcript is the output of a program. Tests can wait for changes.
type transcript struct {
	mu      sync.Mutex // guards the rest
	text    bytes.Buffer
	changed chan struct{} // closed and replaced by Write
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

// read returns the output so far, and a channel that the next Write closes.
func (t *transcript) read() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.text.String(), t.changed
}

func (t *transcript) String() string {
	text, _ := t.read()
	return text
}

// Run is the run function of an example. It returns the exit code.
type Run func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Program is a running example.
type Program struct {
	Stdout, Stderr fmt.Stringer
	Interrupt      context.CancelFunc

	stdout, stderr *transcript
	ended          chan struct{}
	code           int // valid after ended is closed
}

// Start starts the program. The program ends with the test.
func (run Run) Start(t *testing.T, args ...string) *Program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr := &transcript{changed: make(chan struct{})}, &transcript{changed: make(chan struct{})}
	p := &Program{Stdout: stdout, Stderr: stderr, Interrupt: cancel, stdout: stdout, stderr: stderr, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.code = run(ctx, args, stdout, stderr)
	}()
	t.Cleanup(func() {
		cancel()
		p.end(t)
	})
	return p
}

// Prints waits until the program has printed a line that matches the pattern.
func (p *Program) Prints(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stdout, pattern) }

// Notes is like Prints, for stderr.
func (p *Program) Notes(t *testing.T, pattern string) { t.Helper(); p.await(t, p.stderr, pattern) }

// patience limits each wait. On a busy machine, a wait takes seconds.
const patience = 2 * time.Minute

func (p *Program) await(t *testing.T, out *transcript, pattern string) {
	t.Helper()
	fits, late := regexp.MustCompile("(?m)"+pattern), time.After(patience)
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
		case <-late:
			require.Fail(t, "the program does not print "+pattern, "stdout:\n%s\nstderr:\n%s", p.stdout, p.stderr)
		}
	}
}

// end waits until the program ends.
func (p *Program) end(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		require.Fail(t, "the program does not end", "stdout:\n%s\nstderr:\n%s", p.stdout, p.stderr)
	}
}

// Exits waits until the program ends, and checks its exit code.
func (p *Program) Exits(t *testing.T, code int) {
	t.Helper()
	p.end(t)
	assert.Equal(t, code, p.code, "%s%s", p.stdout, p.stderr)
}

// Kubeconfig starts the server, and returns the path of a kubeconfig for it.
func Kubeconfig(t *testing.T, s *informertest.Server) string {
	t.Helper()
	t.Cleanup(s.Close)
	require.NoError(t, s.Start())
	return WriteKubeconfig(t, s.ClientConfig().Host)
}

// WriteKubeconfig writes a kubeconfig for a server, and returns its path.
func WriteKubeconfig(t *testing.T, server string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}

// Stamp matches the time at the beginning of a log line.
const Stamp = `^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `

// BadInput has invalid arguments, and a pattern for the error message.
type BadInput struct{ Args, Want string }

// Test runs the tests that all examples have in common, and additional bad input of this example.
func (run Run) Test(t *testing.T, own ...BadInput) {
	t.Run("BadInput", func(t *testing.T) { run.badInput(t, own) })
	t.Run("Usage", run.usage)
	t.Run("ServerThatIsDead", run.serverThatIsDead)
	t.Run("InterruptedAtOnce", run.interruptedAtOnce)
}

// badInput checks that the program reports bad input in one line.
func (run Run) badInput(t *testing.T, own []BadInput) {
	folder := t.TempDir()
	absent, broken := filepath.Join(folder, "absent"), filepath.Join(folder, "broken")
	require.NoError(t, os.WriteFile(broken, []byte("{ this is: [no kubeconfig"), 0o600))
	rows := []BadInput{
		{"--for -3s", `invalid value "-3s" for flag -for: must not be negative; \w+ -h lists the flags`},
		{"--for 10", `invalid value "10" for flag -for: time: missing unit .*-h lists the flags`},
		{"--frob", `flag provided but not defined: -frob; \w+ -h lists the flags`},
		{"--demo pods", `unexpected argument "pods"; \w+ -h lists the flags`},
		{"--demo --kubeconfig x", `--demo cannot be combined with --kubeconfig; \w+ -h lists the flags`},
		{"--kubeconfig " + absent, "the kubeconfig " + absent + " does not exist: check --kubeconfig"},
		{"--kubeconfig " + broken, "the kubeconfig " + broken + " cannot be used: "},
	}
	for _, row := range append(rows, own...) {
		t.Run(row.Args, func(t *testing.T) {
			good := WriteKubeconfig(t, "http://127.0.0.1:1") // receives no requests
			p := run.Start(t, strings.Fields(strings.Replace(row.Args, "KUBECONFIG", good, 1))...)
			p.Exits(t, 1)
			assert.Regexp(t, `^[a-z]+: `+row.Want+`.*\n$`, p.Stderr.String())
			assert.Empty(t, p.Stdout.String())
		})
	}
	t.Run("environment", func(t *testing.T) {
		t.Setenv(clientcmd.RecommendedConfigPathEnvVar, absent)
		p := run.Start(t)
		p.Exits(t, 1)
		assert.Contains(t, p.Stderr.String(), absent+" does not exist")
	})
}

func (run Run) usage(t *testing.T) {
	p := run.Start(t, "-h")
	p.Exits(t, 0)
	for _, name := range []string{"-demo", "-for duration", "-kubeconfig file"} {
		assert.Contains(t, p.Stdout.String(), "  "+name+"\n")
	}
	assert.Empty(t, p.Stderr.String())
}

// serverThatIsDead checks that the program reports an unreachable server when its time is up.
func (run Run) serverThatIsDead(t *testing.T) {
	p := run.Start(t, "--kubeconfig", WriteKubeconfig(t, "http://127.0.0.1:1"), "--for", "1s")
	p.Exits(t, 1)
	assert.Regexp(t, `^(E\d{4} .*\n)*[a-z]+: .*the informer (is not synced|has stopped)\b.*connection refused.*\n$`, p.Stderr.String())
}

func (run Run) interruptedAtOnce(t *testing.T) {
	p := run.Start(t, "--demo")
	p.Notes(t, "this is a demo")
	p.Interrupt()
	p.Exits(t, 0)
}
