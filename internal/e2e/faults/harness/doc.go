// Package harness runs a real control plane and injects faults. It has an etcd and a kube-apiserver as
// child processes, which can be killed, paused, continued and restarted on the same data; a TCP proxy
// and an HTTP gateway between the servers and their clients; a reader of the audit log; and a generator
// of realistic pods.
//
// # Guarantees
//
//   - Everything listens on 127.0.0.1.
//   - A process is killed by its own pid. On Linux it also ends with the process that started it,
//     even if that one is killed.
//   - Missing binaries are an error. This package does not skip tests.
package harness
