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

// Story describes what happens in a demo cluster.
type Story struct {
	// Begin, if set, prepares the cluster before the example uses it.
	Begin func(ctx context.Context, server *informertest.Server) error
	// Go runs in parallel with the example until ctx ends. If it returns earlier, the demo has failed.
	Go func(ctx context.Context, server *informertest.Server) error
}

// start starts a demo cluster with an API server in this process, which runs until end is called.
func (s Story) start(ctx context.Context, why string, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	err = server.Start()
	if err == nil && s.Begin != nil {
		err = s.Begin(context.WithoutCancel(ctx), server)
	}
	if err != nil {
		server.Close()
		return nil, nil, fmt.Errorf("the demo cluster cannot start: %w", err)
	}
	notes.Printf("%s: an API server in this process, %s", why, server.ClientConfig().Host)
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

// Repeat makes the changes one after another, a beat apart. It repeats them until ctx ends or a change fails.
// A change is skipped if a user of the demo cluster has changed or deleted its object.
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

// Wait waits for a duration. It returns an error if ctx ends first.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
