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

// debugAddress parses the address of --debug-address. Without a host, the page is served only to this
// machine.
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

// serveDebug serves a page about the informers at an address, until end is called. It serves nothing
// if the address is empty. This file is the same in several examples.
func serveDebug(address string, informers *factory.Factory, notes *log.Logger) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at the address of --debug-address: %w: choose another one", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", debug.New(debug.Options{}, factory.InUse(informers)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // returns after Close
	}()
	notes.Printf("http://%s/debug/informers shows the informers", listener.Addr())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
