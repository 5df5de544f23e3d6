package harness

import (
	"net"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// User is an ordinary user, who may do nothing but what a test allows.
const User = launch.User

// Config returns how to reach the kube-apiserver as the administrator. Each
// config makes connections of its own.
func (c *Cluster) Config() *rest.Config {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &rest.Config{
		Host:            c.servers.APIServer,
		BearerToken:     c.servers.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.servers.Authority()},
		// Without one of its own, a client shares its connections with all
		// others that have the same certificates.
		Dial:          dialer.DialContext,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON},
	}
}

// UserConfig is Config for the ordinary user.
func (c *Cluster) UserConfig() *rest.Config {
	config := c.Config()
	config.BearerToken = c.servers.UserToken
	return config
}

// Address is where the kube-apiserver listens.
func (c *Cluster) Address() string { return launch.Address(c.servers.APIServer) }

// Via returns config with another address to connect to, such as a proxy's.
func Via(config *rest.Config, address string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = "https://" + address
	return config
}

// WriteKubeconfig writes a kubeconfig file of the administrator's, with an
// address to connect to.
func (c *Cluster) WriteKubeconfig(path, address string) error {
	return os.WriteFile(path, c.servers.Kubeconfig("https://"+address), 0o600)
}
