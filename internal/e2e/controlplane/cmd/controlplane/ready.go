package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"
)

func (p *pair) etcdReady(ctx context.Context) error {
	return get(ctx, http.DefaultTransport, p.Etcd+"/health", "")
}

func (p *pair) apiserverReady(ctx context.Context) error {
	pem, err := os.ReadFile(p.authority())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()

	if err := get(ctx, transport, p.Apiserver+"/readyz", p.Token); err != nil {
		return err
	}
	// /readyz does not wait for this one, but the first test may need it.
	return get(ctx, transport, p.Apiserver+"/api/v1/namespaces/default", p.Token)
}

// get returns nil if the answer is 200.
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
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
