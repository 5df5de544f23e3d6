package engine

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // drops all lines: many tests fail on purpose
	goleak.VerifyTestMain(m)
}
