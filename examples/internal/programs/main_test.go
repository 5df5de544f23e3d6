package programs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// bin is the folder of the built examples. home is a folder without a kubeconfig.
var bin, home string

func TestMain(m *testing.M) {
	var err error
	if bin, err = build(); err == nil {
		home, err = os.MkdirTemp("", "examples")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program.Main(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(home)
		os.Exit(code)
	}))
}

// build builds all examples, with the race detector if this test has it, and returns their folder. The folder
// is kept, because linking takes most of the time, and go build links only changed programs.
func build() (folder string, err error) {
	const root = "../../.."
	if err := observe(root); err != nil {
		return "", err
	}
	args := []string{"build", "-ldflags=-s -w"}
	folder = filepath.Join(root, ".cache", "examples")
	if tier.Raced() {
		args, folder = append(args, "-race"), folder+"-race"
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	out, err := exec.Command("go", append(args, "-o", folder, root+"/examples/...")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return filepath.Abs(folder)
}

// observe reads the folders of the module, so that go test knows when a cached result is out of date. It does
// not see the files that go build reads.
func observe(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (d.Name()[0] == '.' || d.Name() == "testdata") {
			return fs.SkipDir
		}
		return err
	})
}

// built returns an example. Each call runs it in a new process, with the given environment variables.
func built(name string, variables ...string) program.Run {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.Env = append(append(os.Environ(), "HOME="+home), variables...)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		if err := cmd.Start(); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return -1
		}
		_ = cmd.Wait() // the exit code has the result
		return cmd.ProcessState.ExitCode()
	}
}
