package harness

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// User is an ordinary user, who may do nothing but what a test allows.
const User = "e2e-user"

// Config returns how to reach the kube-apiserver as the administrator. Each
// config makes connections of its own.
func (c *Cluster) Config() *rest.Config {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &rest.Config{
		Host:            "https://" + c.address,
		BearerToken:     c.adminToken,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.file("certs/apiserver.crt")},
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
	config.BearerToken = c.userToken
	return config
}

// Address is where the kube-apiserver listens.
func (c *Cluster) Address() string { return c.address }

// Via returns config with another address to connect to, such as a proxy's.
func Via(config *rest.Config, address string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = "https://" + address
	return config
}

func (c *Cluster) etcdReady(ctx context.Context) error {
	return probe(ctx, http.DefaultClient, "http://"+c.etcdAddress+"/health")
}

func (c *Cluster) apiserverReady(ctx context.Context) error {
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		return err
	}
	defer utilnet.CloseIdleConnectionsFor(client.Transport)

	if err := probe(ctx, client, "https://"+c.address+"/readyz"); err != nil {
		return err
	}
	// /readyz does not wait for this one, but a test may need it at once.
	return probe(ctx, client, "https://"+c.address+"/api/v1/namespaces/default")
}

// probe returns nil if the answer is 200.
func probe(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// WriteKubeconfig writes a kubeconfig file of the administrator's, with an
// address to connect to.
func (c *Cluster) WriteKubeconfig(path, address string) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: e2e
clusters: [{name: e2e, cluster: {server: "https://%s", certificate-authority: %q}}]
users: [{name: e2e, user: {token: %q}}]
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
`, address, c.file("certs/apiserver.crt"), c.adminToken)
	return os.WriteFile(path, []byte(text), 0o600)
}
