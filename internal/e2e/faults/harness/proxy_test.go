package harness

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo starts a server that sends its input back, and returns its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func newProxy(t *testing.T) *Proxy {
	t.Helper()
	p, err := NewProxy(echo(t))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// says sends a text and requires the same text in return.
func says(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(conn, text)
	require.NoError(t, err)
	got := make([]byte, len(text))
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

// silent requires that nothing arrives for a moment.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, conn.SetReadDeadline(time.Time{}))
}

func TestProxyCuts(t *testing.T) {
	p := newProxy(t)
	conn := dial(t, p)
	says(t, conn, "hello")
	require.Equal(t, 1, p.Cut())
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	says(t, dial(t, p), "again")
	require.Equal(t, 2, p.Accepted())
}

func TestProxyRefuses(t *testing.T) {
	p := newProxy(t)
	conn := dial(t, p)
	says(t, conn, "hello")
	p.Refuse()
	_, err := net.Dial("tcp", p.Address())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	says(t, conn, "still here")
	require.NoError(t, p.Admit())
	says(t, dial(t, p), "again")
}

func TestProxyStalls(t *testing.T) {
	p := newProxy(t)
	conn := dial(t, p)
	says(t, conn, "hello")
	p.Stall()
	_, err := io.WriteString(conn, "later")
	require.NoError(t, err)
	silent(t, conn)
	p.Resume()
	got := make([]byte, 5)
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, "later", string(got))
}

func TestProxyTruncates(t *testing.T) {
	p := newProxy(t)
	conn := dial(t, p)
	says(t, conn, "hello")
	p.Truncate(7)
	_, err := io.WriteString(conn, "0123456789")
	require.NoError(t, err)
	got, err := io.ReadAll(conn)
	require.True(t, err == nil || errors.Is(err, syscall.ECONNRESET), "%v", err)
	require.Contains(t, "0123456", string(got))
	says(t, dial(t, p), "0123456789")
}

func TestProxyHalfOpen(t *testing.T) {
	p := newProxy(t)
	conn := dial(t, p)
	says(t, conn, "hello")
	p.HalfOpen()
	for range 3 {
		_, err := io.WriteString(conn, "anybody there?")
		require.NoError(t, err)
		silent(t, conn)
	}
	says(t, dial(t, p), "here")
}

func TestProxyTargets(t *testing.T) {
	p := newProxy(t)
	p.Target("127.0.0.1:1")
	conn, err := net.Dial("tcp", p.Address())
	if err == nil { // it may already have been reset
		_, err = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
	p.Target(echo(t))
	says(t, dial(t, p), "hello")
}

// Connections go to several servers in turn.
func TestProxyTargetsInTurn(t *testing.T) {
	p := newProxy(t)
	var listeners []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		listeners = append(listeners, l)
	}
	p.Target(listeners[0].Addr().String(), listeners[1].Addr().String())
	for range 4 {
		dial(t, p)
	}
	for range 2 {
		for _, l := range listeners { // two connections for each
			conn, err := l.Accept()
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
	}
}
