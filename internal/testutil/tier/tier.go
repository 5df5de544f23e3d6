package tier

import "os"

// Long reports whether to run everything, however long it takes.
func Long() bool { return os.Getenv("TIDEMARK_LONG") == "1" }

// Raced reports whether the race detector is on.
func Raced() bool { return raced }
