// Package controllerruntimetest runs a whole manager of controller-runtime in a test, without sockets and without
// waiting: in a testing/synctest bubble, against the API server of package informertest. example_test.go has a test to
// copy:
//
//	mgr, err := controllerruntime.NewManager(server.ClientConfig(), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
//	stop := controllerruntimetest.Start(t, mgr)
//	controllerruntimetest.Quiet(server) // the controllers have finished their work
//
// Give the manager no address, because a socket stops the bubble's clock, and the test hangs. Give it either one
// namespace or all of them: with several namespaces controller-runtime leaves a goroutine behind, and the bubble never
// ends. Use EnableWarmup only for a standby: a controller that starts during its warm-up waits for a
// mutex, which stops the bubble's clock. Tests of webhooks, and of what informertest leaves out (see its README), still
// need envtest.
//
// # Guarantees
//
//   - If the manager fails, the test fails. The manager has stopped when stop returns, or when the test ends.
//   - Quiet polls nothing, and takes no real time.
package controllerruntimetest
