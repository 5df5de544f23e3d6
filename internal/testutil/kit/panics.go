package kit

import (
	"context"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// SurvivePanics makes utilruntime.HandleCrash recover panics silently until the test ends. The test must
// not run in parallel with others.
func SurvivePanics(t testing.TB) {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers })
}

// NoPanics makes utilruntime.HandleCrash fail the test, until the test ends.
func NoPanics(t testing.TB) {
	handlers := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { t.Errorf("a crash is reported: %v", p) }}
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
}
