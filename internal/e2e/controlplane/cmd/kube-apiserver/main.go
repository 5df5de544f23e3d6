// Command kube-apiserver is the API server of Kubernetes, unmodified: the same
// main package as upstream's, here only so that one go build makes the binary.
package main

import (
	"os"
	_ "time/tzdata" // for CronJob time zones

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics in /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric in /metrics
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
