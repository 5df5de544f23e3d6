package harness

import "errors"

var (
	// ErrNoBinaries means that the servers' binaries are missing.
	ErrNoBinaries = errors.New("no etcd and kube-apiserver: run `make e2e`, or set " + binVariable + " to the folder that `make controlplane-bin` prints")
	// ErrEnded means that a process has ended before it serves.
	ErrEnded = errors.New("the process ended")
	// ErrNotRunning means that a process cannot get a signal because it is not running.
	ErrNotRunning = errors.New("the process is not running")
)
