package verify

import (
	"fmt"
	"os"
)

// On is true where the environment sets TIDEMARK_VERIFY=1, as this module's
// own tests do. The checks take time in proportion to what is stored.
var On = os.Getenv("TIDEMARK_VERIFY") == "1"

// That panics, with the message, where an invariant does not hold.
func That(holds bool, format string, args ...any) {
	if !holds {
		panic("tidemark: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
