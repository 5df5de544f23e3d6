package process

// Measured says that this system measures processes.
const Measured = true

// PeakRSS returns the largest resident memory of this process, since its start or the last ResetPeak.
// It does not ask getrusage, whose value a process inherits from its parent.
func PeakRSS() uint64 { return peak(self) }
