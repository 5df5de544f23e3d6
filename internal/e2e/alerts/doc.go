// Package alerts tests the alerts and the dashboard of factory/metrics with Prometheus' own
// parser and evaluator. It holds tests only, in a module of its own: nobody else has
// Prometheus' server among their dependencies.
package alerts
