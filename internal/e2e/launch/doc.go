// Package launch has what an etcd and a kube-apiserver need to run on this machine: ports, flags,
// files, and how to ask whether they serve. The scenarios run them as children
// (internal/e2e/faults/harness), and the command controlplane as servers that outlive it.
//
// # Guarantees
//
//   - Both servers listen on 127.0.0.1 only, and keep all their data in one folder.
//   - Their ports are below those of outgoing connections, so that no client takes one while its
//     server is down.
//   - It imports the standard library alone: who runs it compiles nothing of Kubernetes.
package launch
