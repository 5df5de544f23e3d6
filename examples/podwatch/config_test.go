package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The sources of a configuration are tested from the last to the first.
func TestPrecedence(t *testing.T) {
	inCluster := func() (*rest.Config, error) { return &rest.Config{Host: "https://10.96.0.1:443"}, nil }
	reaches := func(want, from string, o options) {
		t.Helper()
		config, origin, err := configure(o, inCluster)
		require.NoError(t, err)
		if want == "" {
			assert.Nil(t, config)
			return
		}
		require.NotNil(t, config)
		assert.Equal(t, want, config.Host)
		assert.Equal(t, from, origin)
	}
	reaches("", "", options{})
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	reaches("https://10.96.0.1:443", "the service account of this pod", options{})

	home := clientcmd.RecommendedHomeFile
	defer func() { clientcmd.RecommendedHomeFile = home }()
	clientcmd.RecommendedHomeFile = writeKubeconfig(t, "https://home")
	reaches("https://home", "the kubeconfig "+clientcmd.RecommendedHomeFile, options{})

	one := writeContexts(t, "a", map[string]string{"a": "https://one"})
	two := writeContexts(t, "", map[string]string{"b": "https://two"})
	several := one + string(filepath.ListSeparator) + two
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, several)
	reaches("https://one", "the kubeconfig "+several, options{})
	reaches("https://two", "the kubeconfig "+several, options{context: "b"})

	named := writeKubeconfig(t, "https://named")
	reaches("https://named", "the kubeconfig "+named, options{kubeconfig: named})
}

func TestContextsThatAreWrong(t *testing.T) {
	path := writeContexts(t, "a", map[string]string{"a": "https://a", "b": "https://b"})
	assert.Contains(t, failure(t, "--kubeconfig", path, "--context", "c"), "the kubeconfig "+path+" has no context c: check --context; there is a, b")

	none := writeContexts(t, "", nil)
	assert.Contains(t, failure(t, "--kubeconfig", none, "--context", "c"), "has no context c: check --context; there is none")

	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	assert.Contains(t, failure(t, "--context", "c"), "there is no kubeconfig with a context c: ")
}

func TestServiceAccountThatCannotBeUsed(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "") // so that no token matters, were this a pod
	assert.Contains(t, failure(t), "the service account of this pod cannot be used: unable to load in-cluster configuration")
}
