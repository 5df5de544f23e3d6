package versus

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var (
	podCount    = flag.Int("pods", 20_000, "how many `pods` of 7 kB there are; of the other objects, as many in proportion")
	updateCount = flag.Int("updates", 20_000, "how many `updates` are written, 1,000 a second; at most one for each pod")
	profiles    = flag.String("profiles", "", "write CPU and heap profiles of tidemark's processes into the `folder`")
)

// leastPods are enough for each namespace, and each kind, to have some.
const leastPods = 1000

// childVariable makes this program a measured process: it holds the task.
const childVariable = "TIDEMARK_VERSUS_TASK"

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		if err := serve(context.Background(), text, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "versus:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if *podCount < leastPods || *updateCount < 1 {
		fmt.Fprintf(os.Stderr, "versus: -pods must be at least %d, and -updates 1\n", leastPods)
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}
