package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// newTail returns a server that starts quickly: tail -f.
func newTail(t *testing.T) server {
	t.Helper()
	tail, err := exec.LookPath("tail")
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), "it's a folder")
	s := server{dir, "tail"}
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, nil, 0o600), s.writeScript(tail, []string{"-f", file})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ready(context.Context) error { return nil }

func TestServerStartsAgainAfterKill(t *testing.T) {
	s := newTail(t)

	last := 0
	for range 3 {
		if err := s.run(t.Context(), ready); err != nil {
			t.Fatal(err)
		}
		if pid := s.pid(); pid == 0 || pid == last {
			t.Fatalf("pid %d after pid %d", pid, last)
		}
		last = s.pid()
		if err := s.end(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if pid := s.pid(); pid != 0 {
			t.Fatalf("pid %d after the end", pid)
		}
	}
}

func TestServerStartsOnce(t *testing.T) {
	s := newTail(t)
	if err := s.run(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	pid := s.pid()
	if err := s.run(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		if out, err := exec.Command(s.file(".sh")).CombinedOutput(); err == nil {
			t.Errorf("the script started a second server: %s", out)
		}
	}
	if s.pid() != pid {
		t.Errorf("pid %d became %d", pid, s.pid())
	}
}

func TestStoppedServerEnds(t *testing.T) {
	s := newTail(t)
	if err := s.run(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.end(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestDeathDuringStart(t *testing.T) {
	s := newTail(t)
	if err := s.writeScript("/bin/sh", []string{"-c", "echo no luck; exit 3"}); err != nil {
		t.Fatal(err)
	}
	err := s.run(t.Context(), ready)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("run: %v", err)
	}
	var log strings.Builder
	s.printLog(&log)
	if !strings.Contains(log.String(), "no luck\n") {
		t.Errorf("log: %q", &log)
	}
}

// After a reboot another process may have the pid in the file. Here it is the test's own pid, so that a
// signal to it would end the test without a result.
func TestSignalsGoToOwnProcessOnly(t *testing.T) {
	s := newTail(t)
	if err := os.WriteFile(s.file(".pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := s.pid(); pid != 0 {
		t.Errorf("mistook pid %d for that of the server", pid)
	}
	if err := s.end(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
