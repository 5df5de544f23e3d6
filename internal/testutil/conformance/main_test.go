package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func TestMain(m *testing.M) {
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // discards the errors that tests cause
	if !isChildProcess() {
		kit.AllowWrites()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if testing.Verbose() && !isChildProcess() {
			fmt.Print(table())
		}
		os.Exit(code)
	}))
}
