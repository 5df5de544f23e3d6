package tier

import "os"

// Long tells whether everything is to be tested, however long it takes.
func Long() bool { return os.Getenv("TIDEMARK_LONG") == "1" }

// Raced tells whether the race detector is on.
func Raced() bool { return raced }
