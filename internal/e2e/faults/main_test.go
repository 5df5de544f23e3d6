package faults

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// full enables the sizes and times that the project promises. Without it, all scenarios together take
// some minutes.
var full = flag.Bool("full", false, "run the scenarios at full size: tens of thousands of objects, minutes of churn")

func TestMain(m *testing.M) {
	flag.Parse()
	for env, process := range map[string]func(context.Context, string, io.Writer) error{keeperEnv: keep, weigherEnv: weigh, replicaEnv: replicate} {
		if kubeconfig := os.Getenv(env); kubeconfig != "" {
			if err := process(context.Background(), kubeconfig, os.Stdout); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			return
		}
	}
	klog.SetLogger(klog.Logger{}) // discards the errors that scenarios cause
	ctrl.SetLogger(klog.Logger{})
	code := m.Run()
	fmt.Print(results.table())
	// Leaks are checked here instead of after each scenario, because some scenarios run in parallel.
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// size returns the usual or the full size.
func size[N any](usual, whole N) N {
	if *full {
		return whole
	}
	return usual
}
