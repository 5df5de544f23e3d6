package demo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

func TestMain(m *testing.M) { program.Main(m) }

func inCluster() (*rest.Config, error) { return &rest.Config{Host: "https://10.96.0.1:443"}, nil }

// parsed returns flags that have parsed the arguments.
func parsed(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := NewFlags("x")
	require.NoError(t, f.Parse(args))
	return f
}

// failure returns the error for a configuration that cannot be used.
func failure(t *testing.T, args ...string) string {
	t.Helper()
	config, _, err := parsed(t, args...).config(inCluster)
	require.Error(t, err)
	require.Nil(t, config)
	return err.Error()
}

// The test goes through the sources of a configuration from the last to the first.
func TestPrecedence(t *testing.T) {
	reaches := func(want, from string, args ...string) {
		t.Helper()
		config, origin, err := parsed(t, args...).config(inCluster)
		require.NoError(t, err)
		if want == "" {
			assert.Nil(t, config)
			return
		}
		require.NotNil(t, config)
		assert.Equal(t, want, config.Host)
		assert.Equal(t, from, origin)
	}
	reaches("", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	reaches("https://10.96.0.1:443", "the service account of this pod")

	home := clientcmd.RecommendedHomeFile
	defer func() { clientcmd.RecommendedHomeFile = home }()
	clientcmd.RecommendedHomeFile = program.WriteKubeconfig(t, "https://home")
	reaches("https://home", "the kubeconfig "+clientcmd.RecommendedHomeFile)

	one := writeContexts(t, "a", map[string]string{"a": "https://one"})
	two := writeContexts(t, "", map[string]string{"b": "https://two"})
	several := one + string(filepath.ListSeparator) + two
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, several)
	reaches("https://one", "the kubeconfig "+several)
	reaches("https://two", "the kubeconfig "+several, "--context", "b")

	named := program.WriteKubeconfig(t, "https://named")
	reaches("https://named", "the kubeconfig "+named, "--kubeconfig", named)
}

func TestContextsThatAreWrong(t *testing.T) {
	path := writeContexts(t, "a", map[string]string{"a": "https://a", "b": "https://b"})
	assert.Contains(t, failure(t, "--kubeconfig", path, "--context", "c"), "the kubeconfig "+path+" has no context c: check --context; it has a, b")

	none := writeContexts(t, "", nil)
	assert.Contains(t, failure(t, "--kubeconfig", none, "--context", "c"), "has no context c: check --context; it has none")

	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	assert.Contains(t, failure(t, "--context", "c"), "there is no kubeconfig with a context c: ")
}

func TestServiceAccountThatCannotBeUsed(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "") // so that the test also fails in a pod
	_, _, err := parsed(t).config(rest.InClusterConfig)
	assert.ErrorContains(t, err, "the service account of this pod cannot be used: unable to load in-cluster configuration")
}

func TestKubeconfigsThatAreWrong(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	absent := filepath.Join(folder, "absent")
	broken := file("broken", "{ this is: [no kubeconfig")
	empty := file("empty", "")
	dangling := file("dangling", "{apiVersion: v1, kind: Config, current-context: nowhere, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}")

	for _, row := range []struct{ name, path, want string }{
		{"absent", absent, "the kubeconfig " + absent + " does not exist: "},
		{"broken", broken, "the kubeconfig " + broken + " cannot be used: "},
		{"empty", empty, "the kubeconfig " + empty + " does not name a cluster: "},
		{"dangling", dangling, "context was not found for specified context: nowhere"},
	} {
		t.Run(row.name+" by flag", func(t *testing.T) {
			line := failure(t, "--kubeconfig", row.path)
			assert.Contains(t, line, row.want)
			assert.Contains(t, line, "--kubeconfig")
		})
		t.Run(row.name+" by environment", func(t *testing.T) {
			t.Setenv(clientcmd.RecommendedConfigPathEnvVar, row.path)
			assert.Contains(t, failure(t), row.want)
		})
	}
	t.Run("one of several is absent", func(t *testing.T) {
		list := absent + string(filepath.ListSeparator) + empty
		t.Setenv(clientcmd.RecommendedConfigPathEnvVar, list)
		assert.Contains(t, failure(t), "the kubeconfig "+empty+" does not name a cluster: ")
	})
	t.Run("the one at home is empty", func(t *testing.T) {
		home := clientcmd.RecommendedHomeFile
		defer func() { clientcmd.RecommendedHomeFile = home }()
		clientcmd.RecommendedHomeFile = empty
		assert.Contains(t, failure(t), "the kubeconfig "+empty+" does not name a cluster: ")
	})
}

// writeContexts writes a kubeconfig with the servers of several contexts.
func writeContexts(t *testing.T, current string, servers map[string]string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	for name, server := range servers {
		c.Clusters[name] = &clientcmdapi.Cluster{Server: server}
		c.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	}
	c.CurrentContext = current
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}
