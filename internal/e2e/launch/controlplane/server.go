package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// tick is the polling interval.
const tick = 50 * time.Millisecond

// A server is one of the two processes of a pair. Its state consists of three files in the pair's
// folder:
//
//	NAME.sh   the script that starts the server
//	NAME.pid  the pid, written by NAME.sh
//	NAME.log  the server's output
type server struct {
	dir  string
	name string
}

func (s server) file(ext string) string {
	return filepath.Join(s.dir, s.name+ext)
}

// script is NAME.sh. The exec keeps the pid, so that the pid file is correct however the script was
// started. The test looks for the folder in the command line, because a zombie still has its pid, and
// another process may have got the pid.
const script = `#!/bin/sh
# Runs the %[1]s of this folder, in the foreground.
cd %[2]s || exit 1
if grep -qsF "$PWD" "/proc/$(cat %[1]s.pid 2>/dev/null)/cmdline"; then
	echo "%[1]s is already running" >&2
	exit 1
fi
echo $$ >%[1]s.pid
exec %[3]s >>%[1]s.log 2>&1
`

func (s server) writeScript(program string, flags []string) error {
	words := []string{quote(program)}
	for _, f := range flags {
		words = append(words, quote(f))
	}
	text := fmt.Sprintf(script, s.name, quote(s.dir), strings.Join(words, " \\\n\t"))
	return os.WriteFile(s.file(".sh"), []byte(text), 0o700)
}

// quote quotes s as a single word for the shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// pid returns the pid of the server's process, or 0 if it is not running.
func (s server) pid() int {
	text, err := os.ReadFile(s.file(".pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !s.owns(commandLine(pid)) {
		return 0
	}
	return pid
}

// owns reports whether a command line is that of this server: it has the program's name and the server's
// folder.
func (s server) owns(cmdline string) bool {
	return strings.Contains(cmdline, "/"+s.name+" -") && strings.Contains(cmdline, s.dir+"/")
}

// commandLine returns the command line of a process. It returns "" for a zombie or if there is no
// process.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		line, _ = exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

// run starts the server unless it is running, and waits until ready returns nil.
func (s server) run(ctx context.Context, ready func(context.Context) error) error {
	if s.pid() != 0 {
		return launch.Poll(ctx, tick, func() error { return ready(ctx) })
	}

	// The server gets its own session, so that neither the end of make nor a Ctrl-C in the terminal
	// affects it.
	cmd := exec.Command("/bin/sh", s.file(".sh"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ctx, ended := context.WithCancelCause(ctx)
	go func() { ended(errors.Join(errors.New("the process ended"), cmd.Wait())) }()

	err := launch.Poll(ctx, tick, func() error {
		if s.pid() == 0 {
			return errors.New("not started yet")
		}
		return ready(ctx)
	})
	if err != nil {
		_ = cmd.Process.Kill() // it may not have written its pid yet
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// end sends the signals one after another until the server has ended.
func (s server) end(signals ...syscall.Signal) error {
	for _, signal := range signals {
		pid := s.pid()
		if pid == 0 {
			return nil
		}
		if err := syscall.Kill(pid, signal); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("signal %s (pid %d): %w", s.name, pid, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := launch.Poll(ctx, tick, func() error {
			if s.pid() != 0 {
				return errors.New("still running")
			}
			return nil
		})
		cancel()
		if err == nil {
			return nil
		}
		fmt.Fprintf(os.Stderr, "%s (pid %d) is still running after signal %q\n", s.name, pid, signal)
	}
	return fmt.Errorf("%s does not stop", s.name)
}

// printLog copies the last lines of the server's log to w.
func (s server) printLog(w io.Writer) {
	_, _ = fmt.Fprintln(w, launch.LogTail(s.name, s.file(".log"))) // to the terminal
}
