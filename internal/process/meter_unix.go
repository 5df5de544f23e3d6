//go:build unix

package process

import (
	"syscall"
	"time"
)

// CPU returns the CPU time of all threads of this process.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only invalid arguments fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
