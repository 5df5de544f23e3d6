package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

var (
	objects = flag.Int("objects", 100_000, "the number of `pods` in the stores")
	events  = flag.Int("events", 200_000, "the number of `events` made in advance and played repeatedly; each is a pod of 1.3 kB")
)

func TestMain(m *testing.M) {
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if benching := flag.Lookup("test.bench").Value.String() != ""; benching {
		if os.Getenv("TIDEMARK_VERIFY") != "" {
			fmt.Fprintln(os.Stderr, "bench: TIDEMARK_VERIFY is set, so that tidemark would be measured with its self-checks")
			os.Exit(2)
		}
		// Each section begins with a collection. Collections outside of sections would also return memory
		// to the system, and the next section would pay for getting it back.
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(8 << 30)
	}
	goleak.VerifyTestMain(m)
}
