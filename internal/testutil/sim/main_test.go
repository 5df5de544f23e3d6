package sim_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

var (
	seedFlag  = flag.Uint64("seed", 1, "the first world to play")
	seedsFlag = flag.Uint64("seeds", 0, "how many worlds to play; 0 for as many as the tier has")
	traceFlag = flag.Bool("trace", false, "print the traces of the worlds")
)

func TestMain(m *testing.M) {
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // discards the errors that worlds cause
	// Handlers of the worlds panic, and must not end the process.
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	kit.AllowWrites()
	goleak.VerifyTestMain(m)
}
