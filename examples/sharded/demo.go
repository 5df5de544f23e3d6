package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// atFirst is the number of ConfigMaps in the demo cluster. more is the number that each act adds.
const atFirst, more = 60, 20

// story is the demo cluster of the acts, which make the changes themselves.
var story = demo.Story{
	Begin: populate,
	Go: func(ctx context.Context, _ *informertest.Server) error {
		<-ctx.Done()
		return context.Cause(ctx)
	},
}

// populate creates the first ConfigMaps.
func populate(ctx context.Context, server *informertest.Server) error {
	for n := range atFirst {
		if err := server.Create(ctx, newConfigMap(n)); err != nil {
			return err
		}
	}
	return nil
}

func newConfigMap(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("settings-%03d", n)},
		Data:       map[string]string{"number": fmt.Sprint(n)},
	}
}

// serve serves the demo cluster at an address until ctx ends. Something changes every second.
func serve(ctx context.Context, address string, notes *log.Logger) error {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	defer server.Close()
	if err := populate(context.WithoutCancel(ctx), server); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on the address of --serve: %w: choose another address", err)
	}
	path, remove, err := kubeconfig("http://" + listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer remove()
	front := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = front.Serve(listener) // returns after Close
	}()
	defer func() {
		_ = front.Close()
		<-ended
	}()
	notes.Printf("this is a demo cluster at http://%s; in other terminals, run: go run ./examples/sharded --kubeconfig %s --shard 0/2, and the same with 1/2", listener.Addr(), path)
	err = demo.Repeat(ctx, server, time.Second,
		func() error { return server.Create(ctx, newConfigMap(atFirst)) },
		func() error { return server.Update(ctx, newConfigMap(0)) },
		func() error { return server.Delete(ctx, newConfigMap(atFirst)) },
		func() error { return server.Update(ctx, newConfigMap(1)) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// kubeconfig writes a kubeconfig for a server without authentication. It returns its path, and a function
// that removes it.
func kubeconfig(server string) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "tidemark-sharded-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	c := clientcmdapi.NewConfig()
	c.Clusters["demo"] = &clientcmdapi.Cluster{Server: server}
	c.Contexts["demo"] = &clientcmdapi.Context{Cluster: "demo"}
	c.CurrentContext = "demo"
	path = filepath.Join(folder, "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}
