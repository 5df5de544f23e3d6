package verify

import (
	"fmt"
	"os"
)

// On is true if the environment sets TIDEMARK_VERIFY=1, as for this module's own tests. The
// checks take time in proportion to the stored data.
var On = os.Getenv("TIDEMARK_VERIFY") == "1"

// That panics with the message if an invariant does not hold.
func That(holds bool, format string, args ...any) {
	if !holds {
		panic("tidemark: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
