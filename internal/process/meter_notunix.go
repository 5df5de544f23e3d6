//go:build !unix

package process

import "time"

// CPU returns 0.
func CPU() time.Duration { return 0 }
