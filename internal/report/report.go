package report

import (
	"context"
	"reflect"
	"runtime"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Error calls the handlers of utilruntime.HandleErrorWithContext except its own limiter. The
// limiter sleeps between two errors within a millisecond, and for years in the bubble of a test,
// whose clock is behind. The errors reported here have a back-off or a bound of their own.
func Error(ctx context.Context, err error, message string, keysAndValues ...any) {
	for _, handle := range utilruntime.ErrorHandlers {
		if !sleeps(handle) {
			handle(ctx, err, message, keysAndValues...)
		}
	}
}

// sleeps reports whether a handler is utilruntime's limiter.
func sleeps(handle utilruntime.ErrorHandler) bool {
	f := runtime.FuncForPC(reflect.ValueOf(handle).Pointer())
	return f != nil && strings.HasPrefix(f.Name(), "k8s.io/apimachinery/pkg/util/runtime.backoffError")
}
