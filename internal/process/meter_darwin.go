package process

import "syscall"

// Measured says whether processes can be measured on this system.
const Measured = true

// PeakRSS returns the peak resident memory of this process.
func PeakRSS() uint64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only invalid arguments fail
	}
	return uint64(u.Maxrss) // in bytes, unlike on other systems
}
