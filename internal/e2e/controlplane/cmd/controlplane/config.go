package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"path/filepath"
	"syscall"
	"time"
)

func (p *pair) etcdFlags(peerPort int) []string {
	peer := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	return []string{
		"--name=e2e",
		"--data-dir=" + p.file("etcd-data"),
		"--unsafe-no-fsync", // the data need not outlive a crash of the machine
		"--listen-client-urls=" + p.Etcd,
		"--advertise-client-urls=" + p.Etcd,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=e2e=" + peer,
		"--quota-backend-bytes=8589934592", // 50,000 objects several times over
		"--log-level=warn",
	}
}

func (p *pair) apiserverFlags(port int) []string {
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + p.certs(), // it writes apiserver.crt and apiserver.key itself
		"--etcd-servers=" + p.Etcd,
		"--etcd-compaction-interval=0",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.file("sa.key"),
		"--service-account-signing-key-file=" + p.file("sa.key"),
		"--token-auth-file=" + p.file("tokens.csv"),
		"--authorization-mode=RBAC",
		// Without a controller-manager there is no service account to put
		// into a pod.
		"--disable-admission-plugins=ServiceAccount",
		"--shutdown-delay-duration=0s",
	}
}

func (p *pair) certs() string { return p.file("certs") }

// authority is the file that clients verify the kube-apiserver by: its own
// certificate for 127.0.0.1 and that one's issuer.
func (p *pair) authority() string { return filepath.Join(p.certs(), "apiserver.crt") }

func (p *pair) kubeconfigText() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: e2e
clusters:
- name: e2e
  cluster:
    server: %s
    certificate-authority: %q
users:
- name: e2e-admin
  user:
    token: %s
contexts:
- name: e2e
  context:
    cluster: e2e
    user: e2e-admin
`, p.Apiserver, p.authority(), p.Token)
}

// freePorts are ports that nobody listens on. They lie below those which
// kernels give to outgoing connections (32768 and up on Linux): otherwise a
// client that reconnects could take the port while its server is down, even by
// connecting to itself.
func freePorts(n int) ([]int, error) {
	const first, end = 16384, 32768

	var ports []int
	for len(ports) < n {
		port := first + mathrand.IntN(end-first)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer l.Close() // only at the end, lest a port come up twice
		ports = append(ports, port)
	}
	return ports, nil
}

// newSigningKey is what the kube-apiserver signs service account tokens with.
func newSigningKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// waitFree waits until nobody listens at an address.
func waitFree(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		l, err := net.Listen("tcp", address)
		if err == nil {
			return l.Close()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s is not free: %w", address, err)
		}
	}
}
