package launch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNew_WritesWhatTheServersRead(t *testing.T) {
	s, err := New(t.TempDir())
	require.NoError(t, err)

	tokens, err := os.ReadFile(s.File("tokens.csv"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%s,e2e-admin,e2e-admin,\"system:masters\"\n%s,%s,%s\n", s.Token, s.UserToken, User, User), string(tokens))
	require.NotEqual(t, s.Token, s.UserToken)
	key, err := os.ReadFile(s.File("sa.key"))
	require.NoError(t, err)
	require.Contains(t, string(key), "BEGIN EC PRIVATE KEY")
	require.Contains(t, s.EtcdFlags(), "--listen-client-urls="+s.Etcd)
	flags := s.APIServerFlags("--secure-port=1")
	require.Contains(t, flags, "--etcd-servers="+s.Etcd)
	require.Contains(t, flags, "--secure-port="+strings.TrimPrefix(Address(s.APIServer), "127.0.0.1:"))
	require.Equal(t, "--secure-port=1", flags[len(flags)-1], "the last flag wins")
}

func TestPorts_AreBelowThoseOfClients(t *testing.T) {
	ports, err := FreePorts(100)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, port := range ports {
		require.Less(t, port, 32768)
		require.False(t, seen[port], "twice: "+strconv.Itoa(port))
		seen[port] = true
	}
}

func TestPortTaken_IsReadFromTheLogs(t *testing.T) {
	quiet, taken := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.NoError(t, os.WriteFile(quiet, []byte("fine"), 0o600))
	require.NoError(t, os.WriteFile(taken, []byte("listen tcp 127.0.0.1:1: bind: address already in use"), 0o600))
	require.False(t, PortTaken(quiet, filepath.Join(t.TempDir(), "none")))
	require.True(t, PortTaken(quiet, taken))
}

func TestReady_WantsOK(t *testing.T) {
	status := http.StatusServiceUnavailable
	etcd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(etcd.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	s := &Servers{Etcd: etcd.URL, Dir: t.TempDir()}
	require.ErrorContains(t, s.EtcdReady(t.Context()), "503")
	status = http.StatusOK
	require.NoError(t, s.EtcdReady(t.Context()))
	require.ErrorIs(t, s.APIServerReady(t.Context()), os.ErrNotExist, "without its certificate, requests are impossible")
}

func TestPoll_ReturnsTheLastErrorAndTheReason(t *testing.T) {
	no, ended := errors.New("not yet"), errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Poll(ctx, time.Millisecond, func() error {
		if calls++; calls == 3 {
			cancel(ended)
		}
		return no
	})
	require.ErrorIs(t, err, no)
	require.ErrorIs(t, err, ended)
	require.NoError(t, Poll(ctx, time.Millisecond, func() error { return nil }))
}

func TestLogTail_IsThirtyLines(t *testing.T) {
	log := filepath.Join(t.TempDir(), "etcd.log")
	require.NoError(t, os.WriteFile(log, []byte(strings.Repeat("old\n", 50)+strings.Repeat("new\n", 29)), 0o600))
	require.Equal(t, "--- the end of etcd.log:\n"+strings.Repeat("new\n", 29), LogTail("etcd", log))
	require.Contains(t, LogTail("etcd", log+".none"), "no such file")
}
