// Package harness runs a real control plane and injects faults: it has an etcd
// and a kube-apiserver as child processes that can be killed, stopped, continued
// and started again on the same data; a TCP proxy and an HTTP gateway between the
// servers and their clients; a reader of the audit log; and a maker of realistic
// pods.
//
// # Guarantees
//
//   - Everything listens on 127.0.0.1.
//   - A process is ended by its own pid. On Linux it also ends with the process
//     that started it, even a killed one.
//   - Missing binaries are an error: nothing here skips a test.
package harness
