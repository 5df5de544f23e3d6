package kit

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// SurvivePanics makes utilruntime.HandleCrash end panics without a word and without ending the
// process, until the test ends. Such a test must not run in parallel.
func SurvivePanics(t testing.TB) {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers })
}
