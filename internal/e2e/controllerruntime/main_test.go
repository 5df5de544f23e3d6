package controllerruntime

import (
	"os"
	"testing"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain does not check for leaks. Each test does, see checkLeaks.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the errors that tests cause
	ctrl.SetLogger(klog.Logger{})
	os.Exit(m.Run())
}
