package harness

import (
	"net"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// User is the name of an ordinary user, who has only the rights that tests grant.
const User = launch.User

// Config returns the administrator's client configuration. Clients of different configs do not share
// connections.
func (c *Cluster) Config() *rest.Config {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &rest.Config{
		Host:            c.servers.APIServer,
		BearerToken:     c.servers.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.servers.Authority()},
		// Without its own dialer, a client shares its connections with all other clients that have the
		// same certificates.
		Dial:          dialer.DialContext,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON},
	}
}

// UserConfig is like Config for the ordinary user.
func (c *Cluster) UserConfig() *rest.Config {
	config := c.Config()
	config.BearerToken = c.servers.UserToken
	return config
}

// Address returns the host and port of the kube-apiserver.
func (c *Cluster) Address() string { return launch.Address(c.servers.APIServer) }

// Via returns a copy of config with another address, for instance that of a proxy.
func Via(config *rest.Config, address string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = "https://" + address
	return config
}

// WriteKubeconfig writes the administrator's kubeconfig file for an address, for instance that of a
// proxy.
func (c *Cluster) WriteKubeconfig(path, address string) error {
	return os.WriteFile(path, c.servers.Kubeconfig("https://"+address), 0o600)
}
