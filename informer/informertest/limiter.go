package informertest

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/tidemark-k8s/tidemark/internal/report"
)

// UnlimitErrors takes the limiter of utilruntime.HandleError out of
// utilruntime.ErrorHandlers, until undo. Controllers, client-go's informers and
// its work queues report errors by HandleError, which sleeps where two
// come within a millisecond of each other. It remembers the time of the last error for the
// whole process: in a testing/synctest bubble, whose clock begins at the year 2000, the first
// error sleeps for all the years since then, and every timer of the bubble fires meanwhile;
// an error after that, outside of it, may sleep for real.
//
// It changes a global variable. Call it in TestMain, or before anything runs
// that may report an error.
func UnlimitErrors() (undo func()) {
	all := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = report.Unlimited(all) //nolint:reassign // it is there to be set
	return func() { utilruntime.ErrorHandlers = all } //nolint:reassign // as above
}
