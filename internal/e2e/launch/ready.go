package launch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// StartTimeout limits the time until a server serves. On an idle machine this takes 4 seconds.
const StartTimeout = 2 * time.Minute

// EtcdReady returns nil if etcd serves.
func (s *Servers) EtcdReady(ctx context.Context) error {
	return get(ctx, http.DefaultTransport, s.Etcd+"/health", "")
}

// APIServerReady returns nil if the kube-apiserver serves.
func (s *Servers) APIServerReady(ctx context.Context) error {
	pem, err := os.ReadFile(s.Authority())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()

	if err := get(ctx, transport, s.APIServer+"/readyz", s.Token); err != nil {
		return err
	}
	// /readyz does not wait for this namespace, but a test may need it at once.
	return get(ctx, transport, s.APIServer+"/api/v1/namespaces/default", s.Token)
}

// get returns nil if a GET request is answered with 200.
func get(ctx context.Context, transport http.RoundTripper, url, token string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // only the status is needed

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// Poll calls probe until it returns nil or ctx ends.
func Poll(ctx context.Context, every time.Duration, probe func() error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := probe()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		}
	}
}

// LogTail returns the last lines of a server's log.
func LogTail(name, path string) string {
	const last = 30

	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(string(text), "\n")
	return fmt.Sprintf("--- the end of %s.log:\n%s", name, strings.Join(lines[max(0, len(lines)-last):], ""))
}
