package metrics

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

var rewrite = flag.Bool("rewrite", false, "update the golden files")

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the logs of intended failures
	goleak.VerifyTestMain(m)
}
