package report

import (
	"context"
	"reflect"
	"runtime"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Error calls the handlers of utilruntime.HandleErrorWithContext except its rate limiter. The limiter
// sleeps if two errors occur within a millisecond. In a test's bubble, whose clock is behind, it sleeps
// for years. Errors reported here are already limited or backed off.
func Error(ctx context.Context, err error, message string, keysAndValues ...any) {
	for _, handle := range utilruntime.ErrorHandlers {
		if !sleeps(handle) {
			handle(ctx, err, message, keysAndValues...)
		}
	}
}

// sleeps reports whether a handler is utilruntime's rate limiter.
func sleeps(handle utilruntime.ErrorHandler) bool {
	f := runtime.FuncForPC(reflect.ValueOf(handle).Pointer())
	return f != nil && strings.HasPrefix(f.Name(), "k8s.io/apimachinery/pkg/util/runtime.backoffError")
}
