package eventage

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the logs of intended failures
	goleak.VerifyTestMain(m)
}
