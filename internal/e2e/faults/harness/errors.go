package harness

import "errors"

var (
	// ErrNoBinaries is returned where the servers' binaries are not there.
	ErrNoBinaries = errors.New("no etcd and kube-apiserver: run `make e2e`, or set " + binVariable + " to what `make controlplane-bin` prints")
	// ErrEnded is returned where a process ended that was to serve.
	ErrEnded = errors.New("the process ended")
	// ErrNotRunning is returned for a signal to a process that does not run.
	ErrNotRunning = errors.New("the process does not run")
)
