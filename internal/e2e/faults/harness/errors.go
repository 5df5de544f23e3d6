package harness

import "errors"

var (
	// ErrNoBinaries is returned if the servers' binaries are missing.
	ErrNoBinaries = errors.New("no etcd and kube-apiserver: run `make e2e`, or set " + binVariable + " to what `make controlplane-bin` prints")
	// ErrEnded is returned if a process ends before it serves.
	ErrEnded = errors.New("the process ended")
	// ErrNotRunning is returned for a signal to a process that does not run.
	ErrNotRunning = errors.New("the process does not run")
)
