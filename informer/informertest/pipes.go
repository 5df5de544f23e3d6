package informertest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// pipes is a listener for connections within the process. A waiting connection blocks on a channel, so a
// testing/synctest bubble sees it as idle.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func newPipes() *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// dial returns the client's end of a new connection.
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept returns the server's end of the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case server := <-p.accepted:
		return server, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and dial. Open connections remain open.
func (p *pipes) Close() error {
	p.close()
	return nil
}

// Addr returns an address that cannot be dialed.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "informertest"} }
