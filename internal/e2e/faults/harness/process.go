package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// Process is a server that can be started, frozen, killed and restarted. Only one goroutine may call its
// methods at a time.
type Process struct {
	name  string
	path  string
	args  []string
	env   []string // added to this process's environment
	log   string
	ready func(context.Context) error

	mu     sync.Mutex
	cmd    *exec.Cmd // nil if the process is not running
	exited chan struct{}
}

// NewProcess returns a process that is ready as soon as it runs. env is added to the environment of this
// process. dir gets the log.
func NewProcess(path, dir string, env ...string) *Process {
	name := filepath.Base(path)
	return &Process{
		name: name, path: path, env: env, log: filepath.Join(dir, name+".log"),
		ready: func(context.Context) error { return nil },
	}
}

// Start runs the server and waits until it serves.
func (p *Process) Start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, launch.StartTimeout, fmt.Errorf("not ready after %v", launch.StartTimeout))
	defer cancel()
	if err := p.Ready(ctx); err != nil {
		p.Kill()
		return err
	}
	return nil
}

// launch starts the process from a locked thread that lives as long as the process, because the kernel
// ends a child together with the thread that started it.
func (p *Process) launch() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, endsWithParent()
	exited, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer func() { _ = log.Close() }() // the child has its own descriptor
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log has the reason
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.exited = cmd, exited
	return nil
}

// Ready waits until the server serves.
func (p *Process) Ready(ctx context.Context) error {
	gone := p.Exited()
	err := launch.Poll(ctx, 20*time.Millisecond, func() error {
		select {
		case <-gone:
			return nil
		default:
			return p.ready(ctx)
		}
	})
	select {
	case <-gone:
		err = ErrEnded
	default:
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, p.LogTail())
	}
	return nil
}

// Exited returns a channel that is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.exited
}

// Kill ends the process like a power failure, and waits until it has ended.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Terminate asks the process to end, and kills it if it does not.
func (p *Process) Terminate() { p.end(syscall.SIGTERM, syscall.SIGKILL) }

func (p *Process) end(signals ...syscall.Signal) {
	for _, s := range signals {
		if p.Signal(s) != nil {
			return
		}
		select {
		case <-p.Exited():
			return
		case <-time.After(10 * time.Second):
		}
	}
}

// Freeze pauses the process. Its connections stay open without an answer.
func (p *Process) Freeze() error { return p.Signal(syscall.SIGSTOP) }

// Thaw continues a frozen process.
func (p *Process) Thaw() error { return p.Signal(syscall.SIGCONT) }

// PID returns the pid of the process, or 0 if it is not running.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends a signal to the process, or returns ErrNotRunning.
func (p *Process) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.cmd == nil {
		return ErrNotRunning
	}
	select {
	case <-p.exited:
		return ErrNotRunning
	default:
		return p.cmd.Process.Signal(s)
	}
}

// Output returns the process's output since its first start.
func (p *Process) Output() (string, error) {
	text, err := os.ReadFile(p.log)
	return string(text), err
}

// LogTail returns the last lines that the process logged.
func (p *Process) LogTail() string { return launch.LogTail(p.name, p.log) }
