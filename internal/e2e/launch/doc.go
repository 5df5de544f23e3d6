// Package launch chooses ports and flags and writes the files with which an etcd and a
// kube-apiserver run on this machine, and asks whether they serve. The scenarios start the
// servers as child processes (internal/e2e/faults/harness); the servers that the command
// controlplane starts outlive the command.
//
// # Guarantees
//
//   - Both servers listen on 127.0.0.1 only, and keep all their data in one folder.
//   - Their ports are below the range for outgoing connections, so that no client takes a port
//     while its server is down.
//   - The package imports only the standard library: its users compile nothing of Kubernetes.
package launch
