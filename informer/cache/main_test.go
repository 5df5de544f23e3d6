package cache

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // hides errors that the tests cause on purpose
	goleak.VerifyTestMain(m)
}
