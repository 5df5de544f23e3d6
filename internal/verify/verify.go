package verify

import (
	"fmt"
	"os"
	"strconv"
)

// On is true if the environment sets TIDEMARK_VERIFY=1, or TIDEMARK_VERIFY=structures as this module's
// own tests do. The checks take time in proportion to the stored data.
var On = set("1") || set("structures")

// Writes reports whether the environment sets TIDEMARK_VERIFY=1, or KUBE_CACHE_MUTATION_DETECTOR=true as
// for client-go. Informers then detect programs that write into cached objects. Writes reads the
// environment at each call, because go test only tracks variables that are read while tests run, and
// would return a cached result.
func Writes() bool {
	on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))
	return set("1") || on
}

func set(value string) bool { return os.Getenv("TIDEMARK_VERIFY") == value }

// That panics with the message if holds is false.
func That(holds bool, format string, args ...any) {
	if !holds {
		panic("tidemark: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
