// Package alerts tests the alerts and the dashboard of factory/metrics with Prometheus' own parser and
// evaluator. It contains only tests, and is a separate module, so that no other module depends on
// Prometheus' server.
package alerts
