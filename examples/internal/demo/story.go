package demo

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// Story is what happens in a demo cluster.
type Story struct {
	// Begin prepares the cluster before the example sees it; nil if there is nothing to prepare.
	Begin func(ctx context.Context, server *informertest.Server) error
	// Go runs beside the example until ctx ends. An earlier return is a failure of the demo.
	Go func(ctx context.Context, server *informertest.Server) error
}

// start starts a demo cluster, with an API server in this process. It runs until end is called.
func (s Story) start(ctx context.Context, why string, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	err = server.Start()
	if err == nil && s.Begin != nil {
		err = s.Begin(context.WithoutCancel(ctx), server)
	}
	if err != nil {
		server.Close()
		return nil, nil, fmt.Errorf("the demo cannot be started: %w", err)
	}
	notes.Printf("%s, on an API server in this process, %s", why, server.ClientConfig().Host)
	ctx, cancel := context.WithCancel(ctx)
	var going sync.WaitGroup
	going.Go(func() {
		if err := s.Go(ctx, server); ctx.Err() == nil {
			notes.Printf("the demo failed: %v", err)
		}
	})
	return server.ClientConfig(), func() {
		cancel()
		going.Wait()
		server.Close()
	}, nil
}

// Repeat makes the changes one after another, a beat apart, and then again, until ctx ends or a
// change fails. A change fails silently if a user of the demo cluster has changed or deleted its
// object.
func Repeat(ctx context.Context, server *informertest.Server, beat time.Duration, changes ...func() error) error {
	for {
		for _, change := range changes {
			if err := Wait(ctx, beat); err != nil {
				return err
			}
			if err := change(); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		}
		server.Compact() // otherwise the server keeps all old versions
	}
}

// Wait waits for a duration, or returns an error when ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
