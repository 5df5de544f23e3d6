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
	config, origin, err := configure(o, rest.InClusterConfig)
	switch {
	case err != nil:
		return nil, err
	case config == nil && o.record != "":
		return nil, errors.New("--record: there is no kubeconfig, and a demo is not recorded")
	case config == nil:
		return startDemo(ctx, o.namespace, "there is no kubeconfig, so this is a demo", notes)
	}
	// Nobody wants to wait the usual 30 s to hear that an address is wrong.
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
