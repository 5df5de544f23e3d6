package process

// Measured says whether processes can be measured on this system.
const Measured = true

// PeakRSS returns the peak resident memory of this process since its start or the last ResetPeak. It
// does not use getrusage, because a process inherits that value from its parent.
func PeakRSS() uint64 { return peak(self) }
