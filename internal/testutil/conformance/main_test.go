package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // discards the errors that tests provoke
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if testing.Verbose() && !isChildProcess() {
			fmt.Print(table())
		}
		os.Exit(code)
	}))
}
