package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
)

// debugAddress reads the address of --debug-address. Without a host it is one of this
// machine alone: the page is not for the whole network, unless that is said.
func debugAddress(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || host != "" {
		return s, err
	}
	return net.JoinHostPort("127.0.0.1", port), nil
}

// serveDebug shows at an address what the informers do, for whoever opens it in a
// browser, until end is called. Nothing is served where the address is empty. This
// file is the same in several examples.
func serveDebug(address string, informers *factory.Factory, notes *log.Logger) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("nothing can be served at the address of --debug-address: %w: choose another one", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", debug.New(debug.Options{}, factory.InUse(informers)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // it ends with Close
	}()
	notes.Printf("http://%s/debug/informers shows what the informers do", listener.Addr())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
