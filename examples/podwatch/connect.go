package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is what podwatch talks to. It has to be closed.
type cluster struct {
	client kubernetes.Interface
	server string // its URL
	origin string // where that is written
	close  func()
}

// connect returns the cluster that the options and the environment name. Where
// they name none, it is a made-up one, which runs until ctx ends. No request
// has been made yet.
func connect(ctx context.Context, o options, notes *log.Logger) (*cluster, error) {
	if o.demo {
		return startDemo(ctx, o.namespace, "this is a demo", notes)
	}
	config, origin, err := kubeconfig(o.kubeconfig)
	switch {
	case err != nil:
		return nil, err
	case config == nil:
		return startDemo(ctx, o.namespace, "there is no kubeconfig, so this is a demo", notes)
	}
	// Nobody wants to wait the usual 30 s to hear that an address is wrong.
	config.Dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", origin, err)
	}
	return &cluster{client: client, server: config.Host, origin: origin, close: func() {}}, nil
}

// kubeconfig finds and reads the kubeconfig as kubectl does: the file named, or
// those of $KUBECONFIG, or ~/.kube/config. There is none, and no error either,
// if nothing names one and the last does not exist.
func kubeconfig(path string) (config *rest.Config, origin string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = path, false
	named := rules.GetLoadingPrecedence()
	files := slices.DeleteFunc(slices.Clone(named), missing)
	switch {
	case len(files) > 0:
		origin = "the kubeconfig " + strings.Join(files, string(filepath.ListSeparator))
	case path != "":
		return nil, "", fmt.Errorf("the kubeconfig %s does not exist: check --kubeconfig, or try --demo", path)
	case os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return nil, "", fmt.Errorf("the kubeconfig %s does not exist: check or unset $%s, or try --demo",
			strings.Join(named, string(filepath.ListSeparator)), clientcmd.RecommendedConfigPathEnvVar)
	default:
		return nil, "", nil
	}
	read, err := rules.Load()
	if err == nil {
		config, err = clientcmd.NewNonInteractiveClientConfig(*read, "", &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	}
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", fmt.Errorf("%s names no cluster: choose one with kubectl config use-context, or name another file with --kubeconfig", origin)
	case err != nil:
		return nil, "", fmt.Errorf("%s cannot be used: %w: mend it, or name another file with --kubeconfig", origin, err)
	}
	return config, origin, nil
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return file == "" || errors.Is(err, fs.ErrNotExist)
}
