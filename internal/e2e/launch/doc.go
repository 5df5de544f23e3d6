// Package launch prepares an etcd and a kube-apiserver on this machine: it chooses ports and flags, and
// writes their files. It also checks whether they serve. The scenarios start the servers as child
// processes (internal/e2e/faults/harness). Servers started by the command controlplane outlive the
// command.
//
// # Guarantees
//
//   - Both servers listen only on 127.0.0.1, and store all their data in one folder.
//   - Their ports are below the range for outgoing connections, so that no client takes a port
//     while its server is down.
//   - The package imports only the standard library, so that its users do not compile Kubernetes.
package launch
