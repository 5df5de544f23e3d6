//go:build !linux && !darwin

package process

// Measured says that this system measures processes.
const Measured = false

// PeakRSS returns 0.
func PeakRSS() uint64 { return 0 }
