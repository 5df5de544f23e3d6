package harness

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// Proxy forwards TCP connections to a server, with the faults of a network. It does not interpret the
// data, so it also forwards TLS.
type Proxy struct {
	address string
	tunnels sync.WaitGroup // the goroutines of all tunnels

	mu       sync.Mutex
	targets  []string     // connections go to the targets in turn
	listener net.Listener // nil while connections are refused
	open     map[*tunnel]bool
	accepted int
	delay    time.Duration
	stalled  chan struct{} // closed at the end of a stall; nil if there is no stall
}

// tunnel is a client's connection, and the proxy's connection to the server.
type tunnel struct {
	proxy          *Proxy
	client, server net.Conn
	closeOnce      sync.Once

	mu sync.Mutex
	// left is the number of bytes that the client still gets before the connection breaks. A negative
	// number means no limit.
	left int
	// dead means that the client gets nothing more, not even the end of the server's connection.
	dead bool
}

// NewProxy returns a proxy that listens on 127.0.0.1 in front of the server at target.
func NewProxy(target string) (*Proxy, error) {
	ports, err := launch.FreePorts(1)
	if err != nil {
		return nil, err
	}
	p := &Proxy{targets: []string{target}, open: map[*tunnel]bool{}}
	p.address = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: ports[0]}).String()
	if err := p.Admit(); err != nil {
		return nil, err
	}
	return p, nil
}

// Address returns the address that clients connect to.
func (p *Proxy) Address() string { return p.address }

// Admit accepts connections again after Refuse.
func (p *Proxy) Admit() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		return err
	}
	p.listener = l
	p.tunnels.Go(func() { p.accept(l) })
	return nil
}

// Refuse makes new connections fail with "connection refused". Open connections stay open (see Cut).
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.listener != nil {
		_ = p.listener.Close() // no client can connect anymore, even after an error
		p.listener = nil
	}
}

// Target makes the proxy forward later connections to other servers in turn.
func (p *Proxy) Target(addresses ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.targets = addresses
}

// Cut resets all connections and returns their number.
func (p *Proxy) Cut() int {
	tunnels := p.tunnelsOpen()
	for _, t := range tunnels {
		t.close()
	}
	return len(tunnels)
}

// HalfOpen closes the server's side of all connections. The clients' connections stay open and accept
// data, but deliver nothing more.
func (p *Proxy) HalfOpen() {
	for _, t := range p.tunnelsOpen() {
		t.mu.Lock()
		t.dead = true
		t.mu.Unlock()
		_ = t.server.Close() // an error does not matter
	}
}

// Truncate breaks each open connection after n more bytes to the client, possibly in the middle of an
// object.
func (p *Proxy) Truncate(n int) {
	for _, t := range p.tunnelsOpen() {
		t.mu.Lock()
		t.left = n
		t.mu.Unlock()
	}
}

// Stall holds all data until Resume. Connections stay open and new connections are accepted, but no byte
// passes.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Resume ends a stall, and forwards the held data.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// Delay delays each piece of data.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.delay = d
}

// Accepted returns the number of accepted connections.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.accepted
}

// Close closes the listener and all connections, and waits for their goroutines.
func (p *Proxy) Close() {
	p.Refuse()
	p.Resume()
	p.Cut()
	p.tunnels.Wait()
}

func (p *Proxy) tunnelsOpen() []*tunnel {
	p.mu.Lock()
	defer p.mu.Unlock()

	var all []*tunnel
	for t := range p.open {
		all = append(all, t)
	}
	return all
}

func (p *Proxy) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.connect(conn)
		}
	}
}

// connect connects to the server for a client, and begins to forward data.
func (p *Proxy) connect(client net.Conn) {
	p.mu.Lock()
	target := p.targets[p.accepted%len(p.targets)]
	p.accepted++
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		reset(client)
		return
	}
	t := &tunnel{proxy: p, client: client, server: server, left: -1}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil { // refused or closed meanwhile
		t.close()
		return
	}
	p.open[t] = true
	p.tunnels.Go(t.toServer)
	p.tunnels.Go(t.toClient)
}

// hold waits for the end of a stall, and then for the delay.
func (p *Proxy) hold() {
	p.mu.Lock()
	delay, stalled := p.delay, p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	if delay > 0 {
		time.Sleep(delay)
	}
}

// toServer forwards the client's data to the server, or drops it if the tunnel is dead.
func (t *tunnel) toServer() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.client.Read(buffer)
		t.proxy.hold()
		if n > 0 {
			if _, failed := t.server.Write(buffer[:n]); failed != nil && !t.isDead() {
				err = failed
			}
		}
		if err != nil {
			t.forget()
			return
		}
	}
}

// toClient forwards the server's data to the client, up to the tunnel's limit.
func (t *tunnel) toClient() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.server.Read(buffer)
		t.proxy.hold()
		if t.isDead() {
			return // the client's side stays open
		}
		n, broken := t.allowed(n)
		if n > 0 {
			if _, failed := t.client.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil || broken {
			t.forget()
			return
		}
	}
}

// allowed returns how many of n bytes the client gets, and whether the connection breaks after them.
func (t *tunnel) allowed(n int) (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	switch {
	case t.left < 0:
		return n, false
	case n < t.left:
		t.left -= n
		return n, false
	}
	return t.left, true
}

func (t *tunnel) isDead() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.dead
}

func (t *tunnel) forget() {
	t.close()
	t.proxy.mu.Lock()
	defer t.proxy.mu.Unlock()

	delete(t.proxy.open, t)
}

func (t *tunnel) close() {
	t.closeOnce.Do(func() {
		reset(t.client)
		reset(t.server)
	})
}

// reset closes a connection with a TCP reset, like a crash.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // after an error it closes normally
	}
	_ = conn.Close() // an error does not matter
}
