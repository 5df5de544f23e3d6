package informertest

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/tidemark-k8s/tidemark/internal/report"
)

// UnlimitErrors removes the rate limiter of utilruntime.HandleError from utilruntime.ErrorHandlers,
// until undo is called. Controllers, client-go's informers and its work queues report errors
// through HandleError, and the limiter sleeps if two errors come within a millisecond. It keeps the
// time of the last error for the whole process. In a testing/synctest bubble, whose clock begins in
// the year 2000, the first error therefore sleeps for all the years since then, and every timer of
// the bubble fires meanwhile; an error after that, outside of the bubble, may sleep for real.
//
// UnlimitErrors changes a global variable. Call it in TestMain, or before anything runs that may
// report an error.
func UnlimitErrors() (undo func()) {
	all := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = report.Unlimited(all) //nolint:reassign // the variable exists to be set
	return func() { utilruntime.ErrorHandlers = all } //nolint:reassign // as above
}
