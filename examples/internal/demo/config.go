package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// config returns the configuration of the cluster. It reads a kubeconfig or, if there is none, calls
// inCluster for the pod's service account. It returns nil, without an error, if there is neither. origin
// describes where the configuration comes from.
func (f *Flags) config(inCluster func() (*rest.Config, error)) (config *rest.Config, origin string, err error) {
	config, origin, err = kubeconfig(f.kubeconfig, f.context)
	switch {
	case err != nil || config != nil:
		return config, origin, err
	case f.context != "":
		return nil, "", fmt.Errorf("there is no kubeconfig with a context %s: set --kubeconfig, or use --demo", f.context)
	case os.Getenv("KUBERNETES_SERVICE_HOST") == "":
		return nil, "", nil
	}
	if config, err = inCluster(); err != nil {
		return nil, "", fmt.Errorf("the service account of this pod cannot be used: %w: mount its token in the pod, set --kubeconfig, or use --demo", err)
	}
	return config, "the service account of this pod", nil
}

// kubeconfig reads the kubeconfig as kubectl does: the file at path, or the files of $KUBECONFIG, or
// ~/.kube/config. It returns nil, without an error, if neither of the first two is set and the last one does
// not exist.
func kubeconfig(path, context string) (config *rest.Config, origin string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = path, false
	named := rules.GetLoadingPrecedence()
	files := slices.DeleteFunc(slices.Clone(named), missing)
	switch {
	case len(files) > 0:
		origin = "the kubeconfig " + strings.Join(files, string(filepath.ListSeparator))
	case path != "":
		return nil, "", fmt.Errorf("the kubeconfig %s does not exist: check --kubeconfig, or use --demo", path)
	case os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return nil, "", fmt.Errorf("the kubeconfig %s does not exist: check or unset $%s, or use --demo",
			strings.Join(named, string(filepath.ListSeparator)), clientcmd.RecommendedConfigPathEnvVar)
	default:
		return nil, "", nil
	}
	read, err := rules.Load()
	if err != nil {
		return nil, "", unusable(origin, err)
	}
	if _, ok := read.Contexts[context]; context != "" && !ok {
		return nil, "", fmt.Errorf("%s has no context %s: check --context; it has %s", origin, context, contexts(read))
	}
	config, err = clientcmd.NewNonInteractiveClientConfig(*read, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", fmt.Errorf("%s does not name a cluster: set --context, call kubectl config use-context, or set --kubeconfig to another file", origin)
	case err != nil:
		return nil, "", unusable(origin, err)
	}
	return config, origin, nil
}

func unusable(origin string, err error) error {
	return fmt.Errorf("%s cannot be used: %w: correct it, or set --kubeconfig to another file", origin, err)
}

// contexts returns the names of the contexts.
func contexts(c *clientcmdapi.Config) string {
	if len(c.Contexts) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(c.Contexts)), ", ")
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return file == "" || errors.Is(err, fs.ErrNotExist)
}
