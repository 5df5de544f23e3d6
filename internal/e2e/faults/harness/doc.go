// Package harness holds a real control plane by the hand, and hurts it: an
// etcd and a kube-apiserver as child processes that can be killed, stopped,
// continued and started again on the same data; a TCP proxy and an HTTP
// gateway between them and their clients; a reader of the audit log; and what
// fills a server with pods as they are in real life.
//
// # Guarantees
//
//   - Everything listens on 127.0.0.1.
//   - A process is ended by its own pid. On Linux it also ends with the process
//     that started it, however that one ends.
//   - What is missing is an error: nothing here skips.
package harness
