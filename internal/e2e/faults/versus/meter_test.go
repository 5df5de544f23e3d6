package versus

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// self is the name of this process in /proc, instead of its pid.
const self = "self"

// cpuTime returns the processor time of all threads of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuTimeOf returns the processor time of another process, in steps of 10 ms, or 0 if the system has no
// such file.
func cpuTimeOf(process string) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", process, "stat"))
	if err != nil {
		return 0
	}
	var user, system time.Duration
	after := text[bytes.LastIndexByte(text, ')')+1:] // the program's name may have any characters
	if _, err := fmt.Sscanf(string(bytes.Join(bytes.Fields(after)[11:13], []byte(" "))), "%d %d", &user, &system); err != nil {
		return 0
	}
	return (user + system) * 10 * time.Millisecond
}

// resetPeak resets the value of peak. If it cannot, peak returns the peak since the process's
// start.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak returns the largest resident memory of a process, or 0 if the system has no such file.
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

// arrival records the time of the last bytes from the server, on any connection. The time from
// then to a handler's call is the client's: TLS, HTTP, decoding, and the informer. If more bytes
// have arrived meanwhile, the measured time is too short.
type arrival struct{ nanos atomic.Int64 }

func (a *arrival) since(now time.Time) time.Duration { return now.Sub(time.Unix(0, a.nanos.Load())) }

// dial is the Dial function of a rest.Config.
func (a *arrival) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &noted{conn, a}, nil
}

type noted struct {
	net.Conn
	arrival *arrival
}

func (n *noted) Read(p []byte) (int, error) {
	read, err := n.Conn.Read(p)
	if read > 0 {
		n.arrival.nanos.Store(time.Now().UnixNano())
	}
	return read, err
}
func TestMetersTell(t *testing.T) {
	id := fmt.Sprint(os.Getpid())
	require.InEpsilon(t, peak(self), peak(id), 0.1)
	require.InDelta(t, cpuTime(), cpuTimeOf(id), float64(200*time.Millisecond))
	require.Zero(t, cpuTimeOf("none"))
	require.Zero(t, peak("none"))
}
