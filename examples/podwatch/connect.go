package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// cluster is the connection to a cluster. It must be closed.
type cluster struct {
	client kubernetes.Interface
	server string // its URL
	origin string // the source of the URL
	close  func()
}

// connect returns the cluster given by the options and the environment, or else a demo cluster, which
// runs until ctx ends. It makes no request.
func connect(ctx context.Context, o options, notes *log.Logger) (*cluster, error) {
	if o.demo {
		return startDemo(ctx, o.namespace, "this is a demo", notes)
	}
	config, origin, err := configure(o, rest.InClusterConfig)
	switch {
	case err != nil:
		return nil, err
	case config == nil && o.record != "":
		return nil, errors.New("--record: there is no kubeconfig, and a demo is not recorded")
	case config == nil:
		return startDemo(ctx, o.namespace, "there is no kubeconfig, so this is a demo", notes)
	}
	// The usual 30 s are a long time to wait for a wrong address.
	config.Dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	finish := func() {}
	if o.record != "" {
		if finish, err = recordTo(o.record, config, notes); err != nil {
			return nil, err
		}
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		finish()
		return nil, fmt.Errorf("%s cannot be used: %w", origin, err)
	}
	return &cluster{client: client, server: config.Host, origin: origin, close: finish}, nil
}
