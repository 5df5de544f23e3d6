package informertest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const year = 365 * 24 * time.Hour

// reportDelay returns the time that the report of an error takes in a bubble of some age.
func reportDelay(t *testing.T, age time.Duration) (d time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(age)
		began := time.Now()
		utilruntime.HandleErrorWithContext(t.Context(), errStale, "reported in a bubble")
		d = time.Since(began)
	})
	return d
}

func TestErrorsInABubble(t *testing.T) {
	all := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = all }) //nolint:reassign // it is there to be set
	var heard int
	limiter := all[len(all)-1]                              // handlers that log come before it
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{ //nolint:reassign // as above
		func(context.Context, error, string, ...any) { heard++ }, limiter,
	}
	reportDelay(t, 30*year) // an error of a time that is still to come, whatever other tests have reported
	assert.Greater(t, reportDelay(t, 0), 29*year, "the limiter compares the clock of one bubble with that of another")
	reportDelay(t, 30*year)
	undo := UnlimitErrors()
	assert.Zero(t, reportDelay(t, 0))
	undo()
	reportDelay(t, 0) // leaves an error of the past, so that nothing else waits in this process
	assert.Equal(t, 5, heard, "the other handlers are as they were")
	assert.Len(t, utilruntime.ErrorHandlers, 2)
}
