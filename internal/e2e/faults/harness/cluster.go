package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// binVariable names the folder with the binaries.
const binVariable = "TIDEMARK_E2E_BIN"

// Options change a cluster. The zero value is a kube-apiserver without additional flags.
type Options struct {
	// Flags are added to the kube-apiserver's flags. They override flags with the same names.
	Flags []string
	// Audit makes the kube-apiserver log every list and watch, see [Cluster.Audited].
	Audit bool
}

// Cluster is an etcd and a kube-apiserver with their own data.
type Cluster struct {
	Etcd, APIServer *Process

	servers *launch.Servers
	others  []*Process // additional kube-apiservers
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
		if attempt == 2 || !launch.PortTaken(c.Etcd.log, c.APIServer.log) {
			return nil, err
		}
	}
}

// prepare writes the files that the servers need.
func prepare(dir, bin string, o Options) (*Cluster, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	servers, err := launch.New(dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{servers: servers}
	flags := o.Flags
	if o.Audit {
		flags = append([]string{"--audit-policy-file=" + c.file("audit-policy.yaml"), "--audit-log-path=" + c.file("audit.log")}, flags...)
	}
	c.Etcd = c.process(bin, launch.EtcdName, servers.EtcdFlags(), servers.EtcdReady)
	c.APIServer = c.process(bin, launch.APIServerName, servers.APIServerFlags(flags...), servers.APIServerReady)
	for _, p := range []*Process{c.Etcd, c.APIServer} {
		if _, err := os.Stat(p.path); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoBinaries, err)
		}
	}
	return c, os.WriteFile(c.file("audit-policy.yaml"), []byte(auditPolicy), 0o600)
}

func (c *Cluster) process(bin, name string, flags []string, ready func(context.Context) error) *Process {
	return &Process{name: name, path: filepath.Join(bin, name), args: flags, log: c.file(name + ".log"), ready: ready}
}

func (c *Cluster) file(name string) string { return c.servers.File(name) }

func (c *Cluster) start(ctx context.Context) error {
	if err := c.Etcd.Start(ctx); err != nil {
		return err
	}
	return c.APIServer.Start(ctx)
}

// Another starts an additional kube-apiserver with the same etcd and the same certificate, and with
// additional flags. It returns its host and port.
func (c *Cluster) Another(ctx context.Context, flags ...string) (address string, err error) {
	ports, err := launch.FreePorts(1)
	if err != nil {
		return "", err
	}
	servers := *c.servers
	servers.APIServer = fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	args := append(slices.Clone(c.APIServer.args),
		fmt.Sprintf("--secure-port=%d", ports[0]), "--cert-dir="+c.file("certs-of-another"),
		"--tls-cert-file="+c.file("certs/apiserver.crt"), "--tls-private-key-file="+c.file("certs/apiserver.key"))
	p := &Process{
		name: launch.APIServerName + " " + fmt.Sprint(ports[0]), path: c.APIServer.path, args: append(args, flags...),
		log: c.file(fmt.Sprintf("%s-%d.log", launch.APIServerName, ports[0])), ready: servers.APIServerReady,
	}
	c.others = append(c.others, p)
	return launch.Address(servers.APIServer), p.Start(ctx)
}

// Kill kills all servers at once.
func (c *Cluster) Kill() {
	for _, p := range c.others {
		p.Kill()
	}
	c.APIServer.Kill()
	c.Etcd.Kill()
}

// RestartAPIServer kills the kube-apiserver and restarts it on the same port and data.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.APIServer.Kill()
	return c.APIServer.Start(ctx)
}
