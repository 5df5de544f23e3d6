package launch

import (
	"bytes"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"syscall"
)

// FreePorts returns ports that no process listens on. They are below the range that the kernel uses for
// outgoing connections (32768 and up on Linux). Otherwise a client that reconnects could take the port
// while its server is down, even by connecting to itself.
func FreePorts(n int) ([]int, error) {
	const first, end = 16384, 32768

	var ports []int
	var held []net.Listener // until the end, so that no port is chosen twice
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only reserved
		}
	}()
	for len(ports) < n {
		port := first + mathrand.IntN(end-first) //nolint:gosec // any port is fine
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	return ports, nil
}

// PortTaken reports, judging by the servers' logs, whether a server has ended because another process
// took its port after [New].
func PortTaken(logs ...string) bool {
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err == nil && bytes.Contains(text, []byte("address already in use")) {
			return true
		}
	}
	return false
}
