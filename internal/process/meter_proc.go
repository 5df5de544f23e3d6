package process

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// self stands for the ID of this process in /proc.
const self = "self"

// ResetPeak resets PeakRSS. If the system does not allow it, PeakRSS stays the peak since the start.
func ResetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakRSSOf returns the peak resident memory of another process. It returns 0 if the process does not
// exist or the system does not report its memory.
func PeakRSSOf(pid int) uint64 { return peak(strconv.Itoa(pid)) }

func peak(process string) uint64 {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseUint(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// CPUOf returns the CPU time of another process, in steps of 10 ms. It returns 0 if the process does not
// exist or the system does not report its CPU time.
func CPUOf(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	after := text[bytes.LastIndexByte(text, ')')+1:] // the program's name may contain any characters
	fields := bytes.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64 // of 10 ms, in user mode and in the kernel
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
