package report

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Error calls the handlers that utilruntime.HandleErrorWithContext calls, but for its own
// limiter. That one sleeps where two errors come within a millisecond, and in the bubble
// of a test, whose clock is behind, for years. What is reported here has a back-off, or a
// bound, of its own.
func Error(ctx context.Context, err error, message string, keysAndValues ...any) {
	for _, handle := range utilruntime.ErrorHandlers {
		if !sleeps(handle) {
			handle(ctx, err, message, keysAndValues...)
		}
	}
}

// Unlimited returns the handlers but for utilruntime's limiter.
func Unlimited(handlers []utilruntime.ErrorHandler) []utilruntime.ErrorHandler {
	return slices.DeleteFunc(slices.Clone(handlers), sleeps)
}

// sleeps tells whether a handler is utilruntime's limiter.
func sleeps(handle utilruntime.ErrorHandler) bool {
	f := runtime.FuncForPC(reflect.ValueOf(handle).Pointer())
	return f != nil && strings.HasPrefix(f.Name(), "k8s.io/apimachinery/pkg/util/runtime.backoffError")
}
