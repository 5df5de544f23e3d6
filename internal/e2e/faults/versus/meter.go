package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// self is this process where processes are named by number.
const self = "self"

// cpuTime is the time that all threads of this process have spent.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuTimeOf is that of another process, in hundredths of a second, or 0 where
// the system does not tell.
func cpuTimeOf(process string) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", process, "stat"))
	if err != nil {
		return 0
	}
	var user, system time.Duration
	after := text[bytes.LastIndexByte(text, ')')+1:] // the name may have anything
	if _, err := fmt.Sscanf(string(bytes.Join(bytes.Fields(after)[11:13], []byte(" "))), "%d %d", &user, &system); err != nil {
		return 0
	}
	return (user + system) * 10 * time.Millisecond
}

// resetPeak makes peak start anew. Where it cannot, the peak is that of the
// whole life of the process.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak is the most memory that a process had resident, 0 where the system does
// not tell.
func peak(process string) uint64 {
	text, err := os.ReadFile(filepath.Join("/proc", process, "status"))
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
