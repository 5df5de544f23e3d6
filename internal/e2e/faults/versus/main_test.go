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
	podCount    = flag.Int("pods", 20_000, "the number of `pods` of 7 kB; the numbers of other objects are in proportion")
	updateCount = flag.Int("updates", 20_000, "the number of `updates`, 1,000 per second; at most one per pod")
	profiles    = flag.String("profiles", "", "write CPU and heap profiles of tidemark's processes to the `folder`")
)

// leastPods is the minimum number of pods for which each namespace and each kind has objects.
const leastPods = 1000

// childVariable names the environment variable with the task of a measured process. If it is set, this
// program is a measured process.
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
