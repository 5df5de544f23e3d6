package harness

import (
	"bytes"
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
	"os"
	"path/filepath"
	"syscall"
)

// binVariable names the folder of the binaries.
const binVariable = "TIDEMARK_E2E_BIN"

// Options say what is special about a cluster. The zero value is a
// kube-apiserver as it comes.
type Options struct {
	// Flags are added to the kube-apiserver's; the last one of a name wins.
	Flags []string
	// Audit makes the kube-apiserver write down every request, see [Cluster.Audited].
	Audit bool
}

// Cluster is an etcd and a kube-apiserver with data of their own.
type Cluster struct {
	Etcd, APIServer *Process

	dir, address, etcdAddress string
	adminToken, userToken     string
}

// Start starts a cluster in an empty folder, and waits until it serves.
func Start(ctx context.Context, dir string, o Options) (*Cluster, error) {
	bin := os.Getenv(binVariable)
	if bin == "" {
		return nil, ErrNoBinaries
	}
	for attempt := 0; ; attempt++ {
		c, err := prepare(filepath.Join(dir, fmt.Sprint(attempt)), bin, o)
		if err != nil {
			return nil, err
		}
		err = c.start(ctx)
		if err == nil {
			return c, nil
		}
		c.Kill()
		if attempt == 2 || !c.portTaken() {
			return nil, err
		}
	}
}

// prepare writes what the servers need to start.
func prepare(dir, bin string, o Options) (*Cluster, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		dir:     dir,
		address: fmt.Sprintf("127.0.0.1:%d", ports[0]), etcdAddress: fmt.Sprintf("127.0.0.1:%d", ports[1]),
		adminToken: rand.Text(), userToken: rand.Text(),
	}
	c.Etcd = c.process(bin, "etcd", c.etcdFlags(ports[2]), c.etcdReady)
	c.APIServer = c.process(bin, "kube-apiserver", c.apiserverFlags(ports[0], o), c.apiserverReady)
	for _, p := range []*Process{c.Etcd, c.APIServer} {
		if _, err := os.Stat(p.path); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoBinaries, err)
		}
	}
	key, err := signingKey()
	if err != nil {
		return nil, err
	}
	tokens := fmt.Sprintf("%s,e2e-admin,e2e-admin,\"system:masters\"\n%s,%s,%s\n", c.adminToken, c.userToken, User, User)
	return c, errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(c.file("sa.key"), key, 0o600),
		os.WriteFile(c.file("tokens.csv"), []byte(tokens), 0o600),
		os.WriteFile(c.file("audit-policy.yaml"), []byte(auditPolicy), 0o600),
	)
}

func (c *Cluster) process(bin, name string, flags []string, ready func(context.Context) error) *Process {
	return &Process{name: name, path: filepath.Join(bin, name), args: flags, log: c.file(name + ".log"), ready: ready}
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) start(ctx context.Context) error {
	if err := c.Etcd.Start(ctx); err != nil {
		return err
	}
	return c.APIServer.Start(ctx)
}

// Kill ends both servers at once.
func (c *Cluster) Kill() {
	c.APIServer.Kill()
	c.Etcd.Kill()
}

// RestartAPIServer kills the kube-apiserver and starts it on the same port and data.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.APIServer.Kill()
	return c.APIServer.Start(ctx)
}

// portTaken tells whether a server died since somebody else took its port
// between freePorts and the start.
func (c *Cluster) portTaken() bool {
	for _, p := range []*Process{c.Etcd, c.APIServer} {
		text, err := os.ReadFile(p.log)
		if err == nil && bytes.Contains(text, []byte("address already in use")) {
			return true
		}
	}
	return false
}

func (c *Cluster) etcdFlags(peerPort int) []string {
	client, peer := "http://"+c.etcdAddress, fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	return []string{
		"--name=e2e",
		"--data-dir=" + c.dataDir(),
		"--unsafe-no-fsync", // the data need not outlive a crash of the machine
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=e2e=" + peer,
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	}
}

func (c *Cluster) dataDir() string { return c.file("etcd-data") }

func (c *Cluster) apiserverFlags(port int, o Options) []string {
	flags := []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + c.file("certs"), // it writes apiserver.crt and apiserver.key itself
		"--etcd-servers=http://" + c.etcdAddress,
		"--etcd-compaction-interval=0", // nothing is compacted behind a test's back
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("sa.key"),
		"--service-account-signing-key-file=" + c.file("sa.key"),
		"--token-auth-file=" + c.file("tokens.csv"),
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount", // nobody makes service accounts here
		"--shutdown-delay-duration=0s",
	}
	if o.Audit {
		flags = append(flags, "--audit-policy-file="+c.file("audit-policy.yaml"), "--audit-log-path="+c.file("audit.log"))
	}
	return append(flags, o.Flags...)
}

// freePorts are ports that nobody listens on. They lie below those which
// kernels give to outgoing connections: otherwise a client that reconnects
// could take the port while its server is down.
func freePorts(n int) ([]int, error) {
	const first, end = 16384, 32768

	var ports []int
	var held []net.Listener // until the end, lest a port come up twice
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only held
		}
	}()
	for len(ports) < n {
		port := first + mathrand.IntN(end-first)
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

// signingKey is what the kube-apiserver signs service account tokens with.
func signingKey() ([]byte, error) {
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
