package controllerruntime

import (
	"os"
	"testing"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Leaks are looked for in each test, see checkLeaks.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // says nothing of what fails on purpose
	ctrl.SetLogger(klog.Logger{})
	os.Exit(m.Run())
}
