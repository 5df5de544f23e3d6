package versus

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// arrival records the time of the last bytes from the server on any connection, and counts the bytes.
// The time from then to a handler's call is that of the client: TLS, HTTP, decoding, and the informer.
// If more bytes have arrived meanwhile, the measured time is too short.
type arrival struct{ nanos, bytes atomic.Int64 }

func (a *arrival) since(now time.Time) time.Duration { return now.Sub(time.Unix(0, a.nanos.Load())) }

// dial is a function for Dial in a rest.Config.
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
		n.arrival.bytes.Add(int64(read))
	}
	return read, err
}
