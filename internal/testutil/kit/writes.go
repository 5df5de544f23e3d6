package kit

import "os"

// AllowWrites lets the tests of a package write into cached objects, regardless of the environment.
// Otherwise such a write would end the process. A TestMain calls it.
func AllowWrites() {
	_ = os.Unsetenv("KUBE_CACHE_MUTATION_DETECTOR") // cannot fail
	if os.Getenv("TIDEMARK_VERIFY") == "1" {
		_ = os.Setenv("TIDEMARK_VERIFY", "structures")
	}
}
