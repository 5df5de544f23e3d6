// Package alerts tests the alerts and the dashboard of factory/metrics with Prometheus' own
// parser and evaluator. It holds tests only, in a module of its own, so that no other module
// depends on Prometheus' server.
package alerts
