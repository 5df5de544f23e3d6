package report

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestErrorCallsAllHandlersButTheLimiter(t *testing.T) {
	handlers := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // it is there to be set
	limiters := slices.DeleteFunc(slices.Clone(handlers), func(h utilruntime.ErrorHandler) bool { return !sleeps(h) })
	require.Len(t, limiters, 1, "apimachinery has one limiter; if it was renamed, Error calls it")

	var reported []string
	utilruntime.ErrorHandlers = append(limiters, func(_ context.Context, err error, message string, _ ...any) { //nolint:reassign // as above
		reported = append(reported, message+": "+err.Error())
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 2 {
			Error(t.Context(), errors.New("on purpose"), "Failed", "key", 1)
		}
		require.Zero(t, time.Since(began))
	})
	require.Equal(t, []string{"Failed: on purpose", "Failed: on purpose"}, reported)
}
