package verify

import (
	"fmt"
	"os"
	"strconv"
)

// On is true if the environment sets TIDEMARK_VERIFY=1 or, as for this module's own tests,
// TIDEMARK_VERIFY=structures. The checks take time in proportion to the stored data.
var On = set("1") || set("structures")

// Writes reports whether the environment sets TIDEMARK_VERIFY=1, or KUBE_CACHE_MUTATION_DETECTOR=true as for client-go:
// informers then look for programs that write into cached objects. It reads the environment at each call, since
// go test knows only of variables that are read while tests run, and would answer from its cache.
func Writes() bool {
	on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))
	return set("1") || on
}

func set(value string) bool { return os.Getenv("TIDEMARK_VERIFY") == value }

// That panics with the message if an invariant does not hold.
func That(holds bool, format string, args ...any) {
	if !holds {
		panic("tidemark: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
